#!/bin/sh
# SPDX-License-Identifier: MIT
# verify.sh - everything deeper than `make check`: one row for each check, and a table at the end.
#
#   make verify                     all rows
#   make verify ONLY=core           the rows that a change of src/core/ needs; also shared, preload
#                                   (with src/posix/), cluster, limit
#   make verify ROWS="musl model"   these rows; a row fails if it cannot try something
#   make verify SEED=2              another seed, for random tests
#
# Run it in a build directory.  tests/support/rows.sh explains rows.
# shellcheck disable=SC2086,SC2154,SC2317 # lists; $logs, of rows.sh; rows call functions
set -u

: "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}" "${top_builddir:=$PWD}" "${MAKE:=make}"
. "$top_srcdir/tests/support/rows.sh"
rows_of verify
search=$top_srcdir/tests/search

# target NAME [TEST...] - run tests on a target; `make check-ports` runs all tests on all targets.
target() {
  "$top_srcdir/tests/release/platforms/target.sh" "$@"
}

limit_tests='tests/limit/test_cluster.py tests/limit/test_hold.py tests/limit/test_limit.py tests/limit/test_names.py
  tests/limit/test_nested.py tests/limit/test_parent.py tests/limit/test_rate.py tests/limit/test_status.py
  tests/limit/test_terminal.py'
late='tests/scenarios/t_scenarios tests/contract/t_deadline tests/contract/t_fork'

# other_times - run tests on a machine whose time_t has 32 bits, and again with 64 bits.
other_times() {
  for bits in i386 i386-time64; do
    target "$bits" only $late tests/contract/t_fork_callbacks tests/posix/t_posix_results \
      tests/release/platforms/test_time_bits.py || return
  done
}

"$MAKE" -C "$top_builddir" check TESTS= > "$logs/build" 2>&1 || { tail -n 40 "$logs/build"; exit 2; }

# ---------------------------------------------------------------- every schedule, every death
row explore core 600 "$MAKE" check-explore
row explore-weak core 240 "$MAKE" check-explore-weak
row deaths shared 300 "$MAKE" check-explore-shared
# No ONLY= needs these rows: the models do not read src/, and the canaries test the searches.
row model '' 360 "$MAKE" check-model
row canaries '' 90 "$MAKE" check-canaries

# ---------------------------------------------------------------- real threads, for longer
row stress core 90 "$MAKE" check-stress
row faults core 90 tests tests/search/stress/can_fail.sh tests/inside/faults/test_fault_examples.py
row storm shared 150 "$MAKE" check-shared-storm
row cost core 30 "$MAKE" check-cost

# ---------------------------------------------------------------- tools
row tsan-clang 'core shared cluster' 180 "$search/tools/sanitize.sh" clang thread
row commands 'preload cluster limit' 240 "$search/tools/sanitize.sh" clang commands $limit_tests \
  tests/cluster/test_faults.py
row clang-tidy 'core shared preload cluster limit' 120 "$MAKE" check-tools TOOLS=clang-tidy
row memcheck 'core shared' 60 tests tests/search/tools/memcheck.sh
row watched core 30 tests tests/release/platforms/watched.sh
row coverage '' 480 "$MAKE" coverage
case $ONLY in
  '') folders='' many=100 ;;
  preload) folders='posix preload run' many=25 ;;
  *) folders=$ONLY many=50 ;;
esac
row mutants 'core shared preload cluster limit' 3600 "$MAKE" check-mutants FOLDERS="$folders" N="$many" \
  LEAST=60 SEED="$SEED" RESULTS="$logs/mutants.results"

# ---------------------------------------------------------------- other machines and libraries
row musl 'core shared' 240 target amd64-musl programs tests/release/package/amalgamation.sh
row posix core 30 tests tests/release/platforms/posix_only.sh
row times core 90 other_times
row one-clock core 60 target amd64-one-clock only $late tests/contract/t_aging tests/contract/t_all \
  tests/contract/t_with tests/posix/t_posix_results tests/inside/core/t_sleep \
  tests/inside/faults/t_fault_clock tests/inside/faults/t_fault_memory tests/search/stress/stress
row systems core 480 tests tests/release/platforms/systems.sh
row arm64 '' 120 target arm64 tests/contract/t_results tests/scenarios/t_scenarios tests/contract/t_fork

# ---------------------------------------------------------------- programs, engines, debuggers
row programs preload 480 "$MAKE" check-programs
row etcd 'cluster limit' 240 tests tests/cluster/test_secure.py tests/cluster/test_storm.py \
  tests/limit/test_etcd.py tests/limit/test_operating_etcd.py
row cluster-memory 'cluster limit' 120 tests tests/limit/test_cluster_memory.py
row sequences limit 60 tests tests/limit/test_sequences.py
# check-cluster runs tests/cluster/test_real.py, too.
row members 'cluster limit' 180 "$MAKE" check-cluster
row debuggers 'core shared' 30 tests tests/release/debug/gdb.sh tests/release/debug/probes.sh
row examples '' 90 tests tests/release/package/test_examples.py tests/release/package/bench.sh \
  tests/release/package/test_warnings.py
row languages '' 30 tests tests/release/package/bindings.sh
end_of_rows
