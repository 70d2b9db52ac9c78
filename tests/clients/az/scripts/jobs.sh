# Lists, their limits and views; cancelling, archiving, children, services.
echo 'command: "true"' > job.yml
for i in 1 2 3 4; do az ml job create -f job.yml -n job$i -o none; done
az ml job create -f job.yml -n child --set parent_job_name=job1 -o none
[ "$(az ml job list --max-results 2 --query 'length(@)' -o tsv)" = 2 ]
[ "$(az ml job list -r 1 --query '[0].name' -o tsv)" = child ]
[ "$(az ml job list --all-results --query 'length(@)' -o tsv)" = 5 ]
[ "$(az ml job list --parent-job-name job1 --query '[].name' -o tsv)" = child ]
az ml job update -n job2 --set tags.team="a b&c" -o none
[ "$(az ml job list --tag "team=a b&c" --query '[].name' -o tsv)" = job2 ]
[ "$(az ml job list --tag team --query 'length(@)' -o tsv)" = 1 ]
[ "$(az ml job list --tag team=other --query 'length(@)' -o tsv)" = 0 ]
az ml job archive -n job4
az ml job list --query '[].name' -o tsv | grep -x > /dev/null job4 && exit 1
[ "$(az ml job list --archived-only --query '[].name' -o tsv)" = job4 ]
[ "$(az ml job list --include-archived --query 'length(@)' -o tsv)" = 5 ]
az ml job restore -n job4
[ "$(az ml job list --query 'length(@)' -o tsv)" = 5 ]

echo 'command: sleep 600' > long.yml
az ml job create -f long.yml -n long -o none
az ml job cancel -n long
until [ "$(az ml job show -n long --query status -o tsv)" = Canceled ]; do sleep 0.2; done
az ml job show-services -n long --query Studio.endpoint -o tsv | grep > /dev/null ^http
az ml job validate -f long.yml --query result -o tsv | grep -x > /dev/null Succeeded
az ml job create -f job.yml -n saved --save-as saved.yml -o none
grep -qx 'name: saved' saved.yml
az ml job create -f saved.yml -o none
