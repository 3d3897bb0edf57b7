#!/bin/sh
# SPDX-License-Identifier: MIT
# fleet.sh - eight commands on three machines, three at a time, while commands and etcd are killed.
#
#   fleet.sh FAIRSEM-LIMIT DIRECTORY
#
# The script starts three members of etcd on loopback addresses, with their files below DIRECTORY.  When the
# script ends, even on Ctrl-C, it stops everything that it has started.  The "machines" are three host names.
# If this user may not set the host name of a process, all commands run on one machine.
set -u

limit=$1 directory=$2/fleet.$$
readonly name=backup most=3
started=
mkdir -p "$directory" || exit 1
: > "$directory/log"

say() {
  echo "-- $*"
}

die() {
  echo "fleet.sh: $*" >&2
  exit 1
}

# stop_all - end all processes that were started, and remove their files.
# shellcheck disable=SC2086 # a list
stop_all() {
  trap '' HUP INT TERM
  [ -z "$started" ] || kill -KILL $started 2> /dev/null
  wait 2> /dev/null
  rm -rf "$directory"
}
trap stop_all EXIT
trap 'exit 130' INT
trap 'exit 143' HUP TERM

# ---------------------------------------------------------------- three members of etcd
# Ports that nobody is likely to use now.
port=$((20000 + $$ % 20000))
peers=a=http://127.0.0.1:$((port + 3)),b=http://127.0.0.1:$((port + 4)),c=http://127.0.0.1:$((port + 5))
urls=http://127.0.0.1:$port,http://127.0.0.1:$((port + 1)),http://127.0.0.1:$((port + 2))
unset http_proxy https_proxy all_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY

# member NAME NUMBER - start a member of etcd; its process ID is in $member.
member() {
  client=http://127.0.0.1:$((port + $2)) peer=http://127.0.0.1:$((port + 3 + $2))
  etcd --name "$1" --data-dir "$directory/$1" --listen-client-urls "$client" \
    --advertise-client-urls "$client" --listen-peer-urls "$peer" \
    --initial-advertise-peer-urls "$peer" --initial-cluster "$peers" \
    > "$directory/$1.log" 2>&1 &
  member=$!
  started="$started $member"
}

say "starting three members of etcd on loopback addresses"
member a 0
first_member=$member
member b 1
member c 2
FAIRSEM_LIMIT_CLUSTER=$urls
export FAIRSEM_LIMIT_CLUSTER
tries=0
until "$limit" "$name" "$most" -- true 2> "$directory/err"; do
  tries=$((tries + 1))
  [ "$tries" -lt 20 ] || { cat "$directory/err" "$directory"/*.log >&2; die "etcd does not start"; }
  sleep 0.5
done

# ---------------------------------------------------------------- eight commands
# on HOST COMMAND... - run the command with this host name.
if unshare --uts hostname fleet 2> /dev/null; then
  on() {
    # shellcheck disable=SC2016 # for the shell inside
    exec unshare --uts sh -c 'hostname "$1" && shift && exec "$@"' sh "$@"
  }
elif unshare --map-root-user --uts hostname fleet 2> /dev/null; then
  on() {
    # shellcheck disable=SC2016 # for the shell inside
    exec unshare --map-root-user --uts sh -c 'hostname "$1" && shift && exec "$@"' sh "$@"
  }
else
  on() {
    shift
    exec "$@"
  }
fi

cat > "$directory/job" << 'END'
#!/bin/sh
# job NUMBER LOG - the command that runs under the limit.
echo "begin $1 $FAIRSEM_LIMIT_FENCE" >> "$2"
sleep 3
echo "end $1" >> "$2"
END
chmod +x "$directory/job"

shows() {
  "$limit" --status "$name" > "$directory/status" 2> "$directory/err" &&
    grep -q "$1" "$directory/status"
}

# await WHAT PATTERN - wait until the status of the name matches the pattern.
await() {
  tries=0
  until shows "$2"; do
    tries=$((tries + 1))
    [ "$tries" -lt 200 ] || { cat "$directory/status" "$directory/err" >&2; die "timed out: $1"; }
    sleep 0.1
  done
}

# show - print the present table.
show() {
  shows . || die "$(cat "$directory/err")"
  echo
  cat "$directory/status"
  echo
}

say "eight commands on three machines, each of which takes three seconds, three at a time"
users=0
for number in 1 2 3 4 5 6 7 8; do
  case $((number % 3)) in
    1) host=east ;;
    2) host=west ;;
    0) host=north ;;
  esac
  (on "$host" "$limit" "$name" "$most" -- "$directory/job" "$number" "$directory/log") &
  started="$started $!"
  eval "job$number=$!"
  users=$((users + 1))
  if [ "$users" -le "$most" ]; then
    await "command $number" "running $users, "
  else
    await "command $number" "waiting $((users - most))$"
  fi
done
show

# shellcheck disable=SC2154 # eval has set them
say "kill -9: the command that runs on west ($job2), one that waits on north ($job6), a member of etcd"
kill -KILL "$job2" "$job6" "$first_member"
# The job of $job2 cannot write its end: the kernel kills the job together with $job2.
echo "end 2" >> "$directory/log"
sleep 0.5
show
say "their leases end, ten seconds after the last renewal, and the next in line begins"
# shellcheck disable=SC2154 # eval has set it
while kill -0 "$job7" 2> /dev/null && ! shows "running .* $job7 "; do
  sleep 0.1
done
show

for number in 1 3 4 5 7 8; do
  eval "wait \$job$number" || die "command $number failed: $(cat "$directory/err")"
done
await "the end" "running 0, waiting 0"
show

# ---------------------------------------------------------------- the promises
awk -v most="$most" '
  $1 == "begin" { began = began " " $2; fences = fences " " $3; ++running }
  $1 == "begin" && $3 <= last { print "a fence went back: " $3; wrong = 1 }
  $1 == "begin" { last = $3 }
  $1 == "end" { --running }
  running > largest { largest = running }
  END {
    if (largest > most) { print largest " ran at the same time"; wrong = 1 }
    if (began != " 1 2 3 4 5 7 8") { print "not in order:" began; wrong = 1 }
    if (!wrong) {
      printf "-- never more than %d ran; in order of arrival:%s\n", largest, began
      printf "-- FAIRSEM_LIMIT_FENCE, which only grows:%s\n", fences
    }
    exit wrong
  }' "$directory/log" || die "the promise was not kept"
