# Register data, by flags and by file, use it by version and by label, hide it.
mkdir -p rows
echo "a,b" > rows/one.csv
az ml data create --name rows --version 1 --type uri_folder --path rows -o none
cat > data.yml <<YAML
name: rows
path: rows
type: uri_folder
description: from a file
YAML
V=2
az ml data create -f data.yml --set version=$V tags.who=script -o none
[ "$(az ml data list --query "[?name=='rows'].latest_version | [0]" -o tsv)" = 2 ]
[ "$(az ml data list -n rows --query "sort([].version) | join(' ', @)" -o tsv)" = "1 2" ]
[ "$(az ml data show -n rows --label latest --query '[version, tags.who]' -o tsv | xargs)" = "2 script" ]
id=$(az ml data show --name rows --version 1 --query id -o tsv)
[[ "$id" == /subscriptions/*/data/rows/versions/1 ]]

# The same version with the same content is the same; with other content it is refused.
az ml data create -f data.yml --set version=2 tags.who=script -o none
echo "c,d" > rows/two.csv
az ml data create -f data.yml --set version=2 -o none 2> err.txt && exit 1
grep -q "exists with other content" err.txt

cat > job.yml <<YAML
command: ls \${{inputs.rows}}
inputs:
  rows: {type: uri_folder, path: azureml:rows:1}
YAML
az ml job create -f job.yml --name reader --stream -o none | grep > /dev/null one.csv
az ml job create -f job.yml --name reader2 --set inputs.rows.path=azureml:rows@latest --stream -o none | grep > /dev/null one.csv

az ml data update -n rows -v 1 --set description="first rows" -o none
[ "$(az ml data show -n rows -v 1 --query description -o tsv)" = "first rows" ]
az ml data archive -n rows -v 1
[ "$(az ml data list -n rows --query 'length(@)')" = 1 ]
[ "$(az ml data list -n rows --include-archived --query 'length(@)')" = 2 ]
[ "$(az ml data list -n rows --archived-only --query '[].version' -o tsv)" = 1 ]
az ml data restore -n rows -v 1
[ "$(az ml data list -n rows --query 'length(@)')" = 2 ]
