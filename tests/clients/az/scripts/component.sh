# Register a component with its code, again, and with the next version.
mkdir -p train_src
echo 'echo train' > train_src/train.sh
cat > train.yml <<YAML
\$schema: https://azuremlschemas.azureedge.net/latest/commandComponent.schema.json
name: train_model
display_name: Train a model
type: command
inputs:
  rate: {type: number, default: 0.01}
  rows: {type: uri_folder}
outputs:
  model: {type: uri_folder}
code: ./train_src
environment:
  image: docker.io/library/python:3.11
command: sh train.sh \${{inputs.rows}} \${{outputs.model}} \${{inputs.rate}}
YAML
az ml component create --file train.yml -o none
[ "$(az ml component create --file train.yml --set version=1 --query version -o tsv)" = 1 ]
[ "$(az ml component create --file train.yml --query version -o tsv)" = 2 ]
[ "$(az ml component list --query "[?name=='train_model'].latest_version | [0]" -o tsv)" = 2 ]
az ml component show -n train_model -v 1 --query "{display:display_name,inputs:keys(inputs)}" -o json | grep > /dev/null '"Train a model"'
[ "$(az ml component show -n train_model --query 'inputs.rate.default' -o tsv)" = 0.01 ]
az ml component show -n train_model --query code -o tsv | grep > /dev/null '^azureml:/subscriptions/.*/codes/'
az ml component update -n train_model -v 2 --set tags.state=good -o none
[ "$(az ml component show -n train_model --label latest --query tags.state -o tsv)" = good ]
az ml component archive --name train_model --version 1
[ "$(az ml component list -n train_model --query '[].version' -o tsv)" = 2 ]
az ml component create -f train.yml --set name=Train-Model 2> err.txt && exit 1
grep -q "small letter" err.txt
