#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What the ledger's jobs do: they keep their own books, outside of Berth.
#
#   job.sh MARKS TICKS CODE [leaves|plain]
#
# Each line of MARKS is one append. The lock on descriptor 9 is held by everything this job starts, so
# that a second attempt knows for certain whether anything of the first one is still there.
marks=$1 ticks=$2 code=$3 kind=$4
attempt=${BERTH_ATTEMPT_NUMBER:-$((${SLURM_RESTART_COUNT:-0} + 1))}

mark() {
  read -r now _ </proc/uptime
  echo "$1 $attempt $$ $now $2" >>"$marks"
}

exec 9>>"$marks.lock"
flock --nonblock 9 || mark overlap
read -r parent <"/proc/$PPID/comm"
case $parent in berth-shim | slurmstepd) supervisor=$PPID ;; esac
mark start "${supervisor:-0}"
if [ "$kind" = leaves ]; then
  setsid sleep 1000 &
  read -r stat <"/proc/$!/stat"
  stat=(${stat##*) })
  mark left "$! ${stat[19]}"
fi
for ((tick = 0; tick < ticks; ++tick)); do
  sleep 0.04
  mark tick
  echo "tick $tick"
done
mark end "$code"
exit "$code"
