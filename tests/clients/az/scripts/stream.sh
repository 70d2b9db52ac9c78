# --stream follows a job to its end, and a job that fails ends the script.
cat > good.yml <<YAML
command: echo one; echo two
YAML
cat > bad.yml <<YAML
command: echo on the way; exit 7
YAML
az ml job create --file good.yml --name good --stream > out.txt 2> err.txt
grep -q '"status": "Completed"' out.txt
if az ml job create --file bad.yml --name bad --stream -o none > out.txt 2> err.txt; then
  echo "a failed job must fail the script"
  exit 1
fi
[ ! -s out.txt ] || ! grep -q '{' out.txt
grep -q "bad" err.txt
az ml job stream --name good | grep > /dev/null two
az ml job stream --name bad > /dev/null 2>&1 && exit 1
[ "$(az ml job list --query "length([?status=='Failed'])" -o tsv)" = 1 ]
