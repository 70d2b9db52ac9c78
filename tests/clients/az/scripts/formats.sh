# What -o and --query print, to the letter.
echo 'command: "true"' > job.yml
for n in alpha beta gamma; do
  az ml job create -f job.yml -n $n --set tags.order=$n display_name="job $n" -o none
  az ml job stream -n $n > /dev/null
done
[ "$(az ml job list --query "sort_by([], &name)[].[name, tags.order]" -o tsv)" = "$(printf 'alpha\talpha\nbeta\tbeta\ngamma\tgamma')" ]
[ "$(az ml job show -n beta --query name)" = '"beta"' ]
[ "$(az ml job show -n beta --query name -o tsv)" = beta ]
[ "$(az ml job show -n beta --query '{n: name, s: status, missing: nothing}' -o tsv)" = "$(printf 'beta\tCompleted\tNone')" ]
[ "$(az ml job show -n beta --query '{b: name, a: status}' -o json | tr -d ' \n')" = '{"a":"Completed","b":"beta"}' ]
[ "$(az ml job show -n beta --query nothing -o tsv)" = "" ]
[ "$(az ml job show -n beta --query "status == 'Completed'" -o tsv)" = true ]
[ "$(az ml job list --query "[?starts_with(name, 'a')] | [0].display_name" -o tsv)" = "job alpha" ]
[ "$(az ml job list --query "length([?status=='Completed'])")" = 3 ]
[ "$(az ml job list --query "reverse(sort_by(@, &name))[*].{Name:name, Status:status}" -o table)" = \
"$(printf 'Name    Status\n------  ---------\ngamma   Completed\nbeta    Completed\nalpha   Completed')" ]
[ "$(az ml job show -n beta -o none)" = "" ]
az ml job show -n beta -o yaml | grep -x > /dev/null 'name: beta'
az ml job show -n beta -o jsonc | grep > /dev/null '"name": "beta"'
for line in $(az ml job list --query "[].name" -o tsv); do az ml job show -n "$line" -o none; done
az ml job list --query "[?name=='alpha'].{name:name,tags:tags}" > out.json
python3 -c 'import json; assert json.load(open("out.json")) == [{"name": "alpha", "tags": {"order": "alpha"}}]'
