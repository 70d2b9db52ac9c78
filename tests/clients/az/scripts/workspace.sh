# A resource group and a workspace of its own, chosen by default, and taken away again.
RESOURCE_GROUP=lab-rg
WORKSPACE=vision
if [ "$(az group exists --name "$RESOURCE_GROUP")" = false ]; then
  az group create --name "$RESOURCE_GROUP" --location eastus -o none
fi
az ml workspace create --name $WORKSPACE --resource-group $RESOURCE_GROUP --description "of the lab" --tags team=vision -o none
[ "$(az group exists -n $RESOURCE_GROUP)" = true ]
az group show -n $RESOURCE_GROUP --query properties.provisioningState -o tsv | grep -x > /dev/null Succeeded
az configure --defaults group=$RESOURCE_GROUP workspace=$WORKSPACE
[ "$(az ml workspace show --query '[name, resource_group, description, tags.team]' -o tsv | paste -sd,)" = "vision,lab-rg,of the lab,vision" ]
az ml workspace list --query "[?name=='$WORKSPACE'].id" -o tsv | grep > /dev/null "/resourceGroups/$RESOURCE_GROUP/"
[ "$(az ml workspace list -g $RESOURCE_GROUP --query 'length(@)')" = 1 ]

echo 'command: "true"' > job.yml
az ml job create -f job.yml -n here -o none
[ "$(az ml job list --query '[].name' -o tsv)" = here ]
[ "$(az ml job list -g berth -w default --query '[].name' -o tsv)" = "" ]
az ml workspace update -n $WORKSPACE --set description="of us all" tags.more=yes -o none
[ "$(az ml workspace show -n $WORKSPACE --query '[description, tags.more, tags.team]' -o tsv | paste -sd,)" = "of us all,yes,vision" ]
az ml job stream -n here > /dev/null
az ml workspace delete -n $WORKSPACE --yes --no-wait
az configure --defaults group= workspace=
status=0
az ml workspace show -n $WORKSPACE -g $RESOURCE_GROUP > /dev/null 2> err.txt || status=$?
[ "$status" = 3 ]
grep -q "no workspace 'vision'" err.txt
