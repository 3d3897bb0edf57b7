#!/bin/sh
# SPDX-License-Identifier: MIT
# cluster.sh - fairsem-limit --cluster: what is wrong with a command line, and the rest at an etcd that
# a script plays.  etcd.sh does that at a real one.
set -u

: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${top_builddir:=$PWD}"
. "$top_srcdir/tests/support/script.sh"
. "$top_srcdir/tests/limit/common.sh"
export top_builddir

gives 125 "--ttl without --cluster" --ttl=5 "$name" 1 -- true
gives 125 "--keep-running without --cluster" --keep-running "$name" 1 -- true
gives 125 "a lease that is too short" --cluster --ttl=1 "$name" 1 -- true
gives 125 "half seconds" --cluster --ttl=2.5 "$name" 1 -- true
gives 125 "a name of all users, of etcd" --cluster --global "$name" 1 -- true
gives 125 "to become the command" --cluster --exec "$name" 1 -- true
gives 125 "all names of etcd" --cluster --status
says 'no name: --cluster and FAIRSEM_LIMIT_CLUSTER need one'
FAIRSEM_LIMIT_CLUSTER=http://127.0.0.1:1 gives 0 "with --global, the variable does not count" \
  --global "$name" 1 -- true
"$limit" --global --remove "$name"

if "$limit" --cluster=:// "$name" 1 -- true 2>&1 | grep -q 'built without'; then
  gives 125 "without the library" --cluster "$name" 1 -- true
  says 'was built without libfairsem-cluster'
  skip "fairsem-limit was built without libfairsem-cluster"
fi
# These are waited for, while the others go on.
needs python3
waiting='on_a_terminal a_lease_is_lost nothing_holds_up_the_guard it_ends_well_in_time'
# shellcheck disable=SC2086 # a list
python3 "$top_srcdir/tests/limit/cluster.py" fake "$limit" "$work" $waiting > "$work/waiting" 2>&1 &
scenarios=$!
"$limit" --cluster=http://127.0.0.1:1 --ttl=2 "$name" 1 -- true 2> "$work/nobody" &
nobody=$!
gives 125 "no URL" --cluster=:// "$name" 1 -- true
says 'no list of URLs'
mkdir "$work/link" "$work/copy"
ln -s "$built/fairsem-limit" "$work/link"
printf '#!/bin/sh\nexit 99\n' > "$work/link/fairsem-limit-cluster"
chmod +x "$work/link/fairsem-limit-cluster"
limit=$work/link/fairsem-limit PATH=$work/link:$PATH gives 125 \
  "not a program that is beside a link, or in PATH" --cluster=:// "$name" 1 -- true
says 'no list of URLs'
cp "$limit" "$work/copy"
case $(head -c 4 "$limit") in
  *ELF) limit=$work/copy/fairsem-limit gives 125 "the other program is where it is installed, or is not" \
    --cluster=:// "$name" 1 -- true
    says 'no list of URLs\|--cluster needs libfairsem-cluster: /.*/fairsem/fairsem-limit-cluster: No such' ;;
  *) not_tried "the other program is not beside it: fairsem-limit is a script here" ;;
esac
gives 125 "a password in a URL" --cluster=http://me:secret@127.0.0.1 "$name" 1 -- true
says 'no user in a URL'
gives 125 "an empty name" --cluster '' 1 -- true
gives 125 "a name with a newline" --cluster "$(printf 'a\nb')" 1 -- true
gives 125 "a name that is too long" --cluster "$(printf '%0256d' 0)" 1 -- true
gives 127 "no such command" --cluster "$name" 1 -- "$work/none"
FAIRSEM_LIMIT_CLUSTER_USER=me gives 125 "a user without a password" --cluster "$name" 1 -- true
says 'FAIRSEM_LIMIT_CLUSTER_USER needs FAIRSEM_LIMIT_CLUSTER_PASSWORD_FILE'
FAIRSEM_LIMIT_CLUSTER_CA_FILE=$work/none gives 125 "no file" --cluster "$name" 1 -- true
says "CLUSTER_CA_FILE: $work/none: No such file"
FAIRSEM_LIMIT_CLUSTER_CA_FILE=$work gives 125 "a directory, not a file" --cluster "$name" 1 -- true
says "CLUSTER_CA_FILE: $work: Is a directory"

# shellcheck disable=SC2086 # a list
python3 "$top_srcdir/tests/limit/cluster.py" fake "$limit" "$work" but $waiting ||
  fail "at an etcd that is played"
wait "$scenarios" || fail "at an etcd that is played: $(cat "$work/waiting")"
cat "$work/waiting"
wait "$nobody"
[ $? -eq 125 ] || fail "nobody answers: not exit status 125"
grep -q 'etcd does not answer (http://127.0.0.1:1)' "$work/nobody" ||
  fail "nobody answers: $(cat "$work/nobody")"
exit "$status"
