# Make an environment unless its newest version is there, and find out which that is.
version=$(az ml environment list --query "[?name=='sklearn'].latest_version | [0]" -o tsv)
[ -z "$version" ]
az ml environment create --name sklearn --image docker.io/library/python:3.11 --tags kind=plain -o none
cat > env.yml <<YAML
name: sklearn
image: docker.io/library/python:3.11
conda_file: conda.yml
description: with scikit-learn
YAML
printf 'name: e\ndependencies:\n- python=3.11\n- pip:\n  - scikit-learn\n' > conda.yml
version=$(az ml environment create -f env.yml --query version --output tsv)
[ "$version" = 2 ]
[ "$(az ml environment list --query "[?name=='sklearn'].latest_version | [0]" -o tsv)" = 2 ]
[ "$(az ml environment show -n sklearn -v 2 --query conda_file.dependencies[0] -o tsv)" = python=3.11 ]
[ "$(az ml environment show -n sklearn -v 1 --query 'tags.kind' -o tsv)" = plain ]
az ml environment update -n sklearn -v 1 --set tags.kind=old description=before -o none
[ "$(az ml environment show -n sklearn -v 1 --query '[tags.kind,description]' -o tsv | paste -sd,)" = old,before ]
az ml environment archive -n sklearn
[ "$(az ml environment list --query "[?name=='sklearn'] | length(@)" -o tsv)" = 0 ]
az ml environment restore -n sklearn
[ "$(az ml environment list --query "[?name=='sklearn'] | length(@)" -o tsv)" = 1 ]
