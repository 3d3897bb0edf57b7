#!/bin/sh
# SPDX-License-Identifier: MIT
# etcd.sh [SCENARIO...] - fairsem-limit --cluster at a real etcd.
set -u

: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${top_builddir:=$PWD}"
. "$top_srcdir/tests/support/script.sh"
PYTHONPATH=$top_srcdir/tests/cluster:$top_srcdir/tests/support PYTHONDONTWRITEBYTECODE=1
export PYTHONPATH PYTHONDONTWRITEBYTECODE top_builddir
limit=$top_builddir/fairsem-limit
[ -x "$limit" ] || skip "fairsem-limit was not built"
if "$limit" --cluster=:// name 1 -- true 2>&1 | grep -q 'built without'; then
  skip "fairsem-limit was built without libfairsem-cluster"
fi
needs python3 etcd etcdctl
python3 "$top_srcdir/tests/limit/cluster.py" etcd "$limit" "$work" "$@" || status=$?
[ "$status" -eq 0 ] || [ "$status" -eq 77 ] || tail -n 20 "$work"/*.log
exit "$status"
