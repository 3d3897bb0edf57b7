#!/bin/sh
# SPDX-License-Identifier: MIT
# members.sh - three members of a real etcd that end, hang, and change their leader.
set -u

: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${top_builddir:=$PWD}"
. "$top_srcdir/tests/support/script.sh"
export top_builddir PYTHONDONTWRITEBYTECODE=1
needs python3 etcd etcdctl
python3 "$top_srcdir/tests/cluster/members.py" "$work" || status=$?
[ "$status" -eq 0 ] || [ "$status" -eq 77 ] || tail -n 20 "$work"/*.log "$work"/*/*.log
exit "$status"
