# Make a cluster unless it is there, twice; change it, run on it, delete it.
make_cluster() {
  if ! az ml compute show --name cpu-cluster --query name -o tsv > /dev/null 2>&1; then
    echo made
    az ml compute create -n cpu-cluster --type amlcompute --min-instances 0 --max-instances 2 -o none
  fi
}
[ "$(make_cluster)" = made ]
[ -z "$(make_cluster)" ]
az ml compute create -n cpu-cluster --type amlcompute --min-instances 0 --max-instances 3 -o none
[ "$(az ml compute show -n cpu-cluster --query max_instances)" = 3 ]
az ml compute update -n cpu-cluster --max-instances 4 --idle-time-before-scale-down 60 -o none
az ml compute update -n cpu-cluster --set tags.team=vision tags.cost=low -o none
az ml compute update -n cpu-cluster --remove tags.cost -o none
[ "$(az ml compute show -n cpu-cluster --query '[tags.team, tags.cost, to_string(max_instances)] | join(`/`, [?@])' -o tsv)" = vision/4 ]
az ml compute list --query "[?type=='amlcompute'].name" -o tsv | grep -x > /dev/null cpu-cluster
az ml compute list-sizes --query "[?v_cp_us > \`2\`] | [0].name" -o tsv | grep > /dev/null Standard_
az ml compute list-usage -l local --query "[].name.value" -o tsv | grep > /dev/null .

echo 'command: hostname' > job.yml
name=$(az ml job create -f job.yml --set compute=azureml:cpu-cluster --query name -o tsv)
az ml job stream -n "$name" > /dev/null
[ "$(az ml job show -n "$name" --query compute -o tsv)" = azureml:cpu-cluster ]
az ml compute list-nodes -n cpu-cluster --query '[0].node_state' -o tsv > /dev/null

az ml compute delete -n cpu-cluster --yes --no-wait
while az ml compute show -n cpu-cluster > /dev/null 2>&1; do sleep 0.2; done
status=0
az ml compute show -n cpu-cluster > /dev/null 2>&1 || status=$?
[ "$status" = 3 ]
