# Exit statuses: 1 for what failed, 2 for wrong usage, 3 for what is not there; stdout is never touched.
expect() {
  local wanted=$1 status=0
  shift
  "$@" > out.txt 2> err.txt || status=$?
  if [ "$status" != "$wanted" ] || [ -s out.txt ] || [ ! -s err.txt ]; then
    echo "$* ended with $status, not $wanted: $(cat out.txt err.txt)"
    exit 1
  fi
}
expect 3 az ml job show -n nowhere
expect 3 az ml compute show -n nowhere
expect 3 az ml data show -n nowhere
expect 3 az ml data show -n nowhere -v 1
expect 3 az ml environment show -n nowhere --label latest
expect 3 az ml component show -n nowhere
expect 3 az ml job list -w nowhere
expect 3 az group show -n nowhere
expect 2 az ml job show
expect 2 az ml job create
expect 2 az ml job shwo -n x
expect 2 az ml jbo list
expect 2 az ml job list --bogus
expect 2 az ml job list -o xml
expect 2 az ml job list --query "[?name=='x'"
grep -q "character 12" err.txt
expect 2 az ml job list --query "lenght(@)"
grep -q "did you mean 'length'" err.txt
expect 2 az ml job list --a
grep -q "'--a' could be --all-results or --archived-only" err.txt
expect 1 az ml job create -f nowhere.yml
expect 1 az ml job list --query "abs(@)"
expect 3 az ml compute delete -n nowhere
expect 1 az ml online-endpoint create -f endpoint.yml --name e
grep -q "not supported yet" err.txt
expect 1 az ml schedule list
expect 1 az ml registry show -n r
expect 1 az ml environment show -n e --version 1 --registry-name azureml
expect 2 az storage account list
grep -q "about Azure itself" err.txt
expect 1 az ml compute attach -n x -t kubernetes
az ml online-deployment --help | grep > /dev/null get-logs
az ml job create -h | grep > /dev/null -- --stream
az ml --help | grep > /dev/null "Commands:"
echo 'comand: ls' > job.yml
expect 1 az ml job create -f job.yml
grep -q "job.yml:1:1: 'comand' is not a key" err.txt
