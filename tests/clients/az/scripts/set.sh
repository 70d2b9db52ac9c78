# --set with nested keys, JSON, lists and files; abbreviations and @file as az takes them.
cat > job.yml <<YAML
command: echo \${{inputs.rate}} \${{inputs.text}} "\$COLOUR"
inputs:
  rate: 1
  text: none
environment_variables: {COLOUR: red}
tags: {a: "1"}
YAML
echo "from a file" > text.txt
az ml job create --file job.yml --name one --stream -o none --set inputs.rate=0.25 inputs.text=@text.txt \
  environment_variables.COLOUR=blue tags.new=yes > out.txt
grep -qx "0.25 from a file blue" out.txt
[ "$(az ml job show -n one --query '[tags.a, tags.new]' -o tsv | paste -sd,)" = 1,yes ]
az ml job create -f job.yml -n two -o none --set 'tags={"all": "new", "n": "2"}' --set display_name="two words"
[ "$(az ml job show -n two --query '[display_name, to_string(tags)]' -o tsv)" = "$(printf 'two words\n{"all":"new","n":"2"}')" ]
az ml job update -n two --set tags.n=3 description="what it is" -o none
az ml job update -n two --remove tags.all -o none
[ "$(az ml job show -n two --query '[to_string(tags), description]' -o tsv)" = "$(printf '{"n":"3"}\nwhat it is')" ]
az ml job update -n two --set compute=other 2> err.txt && exit 1
grep -q "'compute' cannot be changed" err.txt
az ml job create -f job.yml --set environment=azureml:x:1 environment.image=y 2> err.txt && exit 1
grep -q "not a mapping" err.txt
[ "$(az ml job list --max 1 --out tsv --quer 'length(@)')" = 1 ]
echo "[?name=='two'].name" > query.txt
[ "$(az ml job list --query @query.txt -o tsv)" = two ]
