# Which workspace is meant: a flag, else a variable, else this folder's file, else one's own.
az ml workspace create -n first -o none
az ml workspace create -n second -o none
az ml workspace create -n third -o none
current() { az ml workspace show --query name -o tsv "$@"; }
[ "$(current)" = default ]
az configure --defaults workspace=first
[ "$(current)" = first ]
mkdir -p project/below
cd project
az configure --scope local --defaults workspace=second
[ "$(current)" = second ]
cd below
[ "$(current)" = second ]
[ "$(AZURE_DEFAULTS_WORKSPACE=third current)" = third ]
[ "$(AZURE_DEFAULTS_WORKSPACE=third current -w default)" = default ]
cd ../..
[ "$(current)" = first ]
[ "$(az configure --list-defaults --query "[?name=='workspace'].value" -o tsv)" = first ]
az config set defaults.workspace=third core.output=tsv
[ "$(az config get defaults.workspace --query value)" = third ]
[ "$(az ml workspace show --query name)" = third ]
[ "$(az ml workspace show --query name -o json)" = '"third"' ]
az config unset core.output defaults.workspace
[ "$(current)" = default ]
[ "$(az ml workspace show --query name)" = '"default"' ]
az configure --defaults workspace 2> err.txt && exit 1
grep -q "key=value" err.txt
