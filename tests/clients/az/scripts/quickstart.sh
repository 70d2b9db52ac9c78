# A first job as Azure's quickstarts have it: log in, choose a workspace, submit, poll, show, download.
az login --output none
az account set --subscription "$(az account show --query id -o tsv)"
az extension add --name ml --yes
az configure --defaults group=berth workspace=default location=eastus

mkdir -p src
echo 'mkdir -p outputs && echo "trained with $1" | tee outputs/model.txt' > src/train.sh
cat > job.yml <<YAML
\$schema: https://azuremlschemas.azureedge.net/latest/commandJob.schema.json
code: src
command: sh train.sh \${{inputs.rate}}
inputs:
  rate: 0.1
experiment_name: quickstart
YAML

run_id=$(az ml job create -f job.yml --query name -o tsv --set experiment_name=from-a-script inputs.rate=0.5)
[ -n "$run_id" ]
if [[ -z "$run_id" ]]; then
  echo "Job creation failed"
  exit 3
fi
az ml job show -n "$run_id" --query services.Studio.endpoint | grep > /dev/null '^"http'

status=$(az ml job show -n "$run_id" --query status -o tsv)
running=("NotStarted" "Queued" "Starting" "Preparing" "Running" "Finalizing" "Provisioning")
while [[ " ${running[*]} " == *" $status "* ]]; do
  sleep 0.2
  status=$(az ml job show -n "$run_id" --query status -o tsv)
done
[ "$status" = Completed ]

table=$(az ml job show -n "$run_id" --query "{s:status,n:name}" -o table)
[ "$(echo "$table" | sed -n 1p | tr -s ' ')" = "S N" ]
[ "$(echo "$table" | sed -n 3p | tr -s ' ')" = "Completed $run_id" ]
[ "$(az ml job show --name "$run_id" --query '[experiment_name, status]' -o tsv)" = "$(printf 'from-a-script\nCompleted')" ]

az ml job download --name "$run_id" --all --download-path results
grep -q "trained with 0.5" results/artifacts/outputs/model.txt
