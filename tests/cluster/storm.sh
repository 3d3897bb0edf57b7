#!/bin/sh
# SPDX-License-Identifier: MIT
# storm.sh - clients that come and go, are killed and stopped; and members, if there are three.
#
#   FAIRSEM_CLUSTER_STORM="SECONDS CLIENTS MEMBERS [SEED]" storm.sh
set -u

: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${top_builddir:=$PWD}"
. "$top_srcdir/tests/support/script.sh"
export top_builddir PYTHONDONTWRITEBYTECODE=1
needs python3 etcd etcdctl
# shellcheck disable=SC2086 # a list
python3 "$top_srcdir/tests/cluster/storm.py" "$work" ${FAIRSEM_CLUSTER_STORM:-3 64 1} ||
  status=$?
[ "$status" -eq 0 ] || [ "$status" -eq 77 ] || tail -n 20 "$work"/*.log "$work"/*/*.log
exit "$status"
