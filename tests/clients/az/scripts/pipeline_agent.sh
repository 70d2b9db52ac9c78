# The first steps of a build agent: versions, the extension, who we are, a token for curl.
az --version | head -1 | grep > /dev/null .
ml=$(az version --query extensions.ml -o tsv)
[[ "$ml" == 2.* ]]
az extension list --query "[].name" -o tsv | grep -x > /dev/null ml || az extension add -n ml
az extension show --name ml --query version -o tsv | grep -x > /dev/null "$ml"
az extension update -n ml -o none
az extension add -n other 2> err.txt && exit 1
SUBSCRIPTION_ID=$(az account show --query id -o tsv)
TENANT_ID=$(az account show --query tenantId -o tsv)
[ ${#SUBSCRIPTION_ID} = 36 ] && [ ${#TENANT_ID} = 36 ]
az account list --query "[?isDefault].name" -o tsv | grep > /dev/null .
token=$(az account get-access-token --resource https://ml.azure.com --query accessToken -o tsv)
url=$(az ml workspace show --query mlflow_tracking_uri -o tsv)
base=${url%%/mlflow*}
code=$(curl -s -k -o /dev/null -w '%{http_code}' -H "Authorization: Bearer $token" \
  "$base/subscriptions/$SUBSCRIPTION_ID/providers/Microsoft.MachineLearningServices/workspaces?api-version=2024-04-01")
[ "$code" = 200 ]
az logout -o none
az ml workspace list --subscription "$SUBSCRIPTION_ID" --only-show-errors --query "[].name" -o tsv | grep -x > /dev/null default
