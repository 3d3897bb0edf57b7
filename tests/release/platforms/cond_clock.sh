#!/bin/sh
# SPDX-License-Identifier: MIT
# cond_clock.sh - time-outs where a condition variable cannot have CLOCK_MONOTONIC, as on macOS.
#
# The library is built as there, except for the one call that only macOS has.  Both clocks may be set
# during a sleep: t_fault_clock does that.
set -u

: "${top_srcdir:=$(cd "$(dirname "$0")/../../.." && pwd)}" "${top_builddir:=$PWD}"
. "$top_srcdir/tests/support/script.sh"
# shellcheck source=tests/support/plain/plain.sh
. "$top_srcdir/tests/support/plain/plain.sh"

compiler="$CC -g -fexceptions -DFS_HAS_COND_CLOCK=0"
plain_library "$compiler" "$work/generic" || exit 1

# A sleep has an end long before a deadline that is far away, and also if that has passed.
cat > "$work/sleeps.c" <<'_EOF'
#include "cond_clock.h"
int main(void)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    const struct fs_deadline far = fs_deadline_after(INT64_C(3600000000000));
    const struct fs_deadline passed = { .clock = CLOCK_MONOTONIC };
    pthread_cond_t cond;

    if (!fs_cond_init(&cond, CLOCK_MONOTONIC) || pthread_mutex_lock(&mutex) != 0)
        return 1;
    fs_cond_sleep_until(&cond, &mutex, &passed);
    fs_cond_sleep_until(&cond, &mutex, &far);
    return 0;
}
_EOF
if plain_compile "$compiler" "$work/sleeps.c" "$work/generic/libcore.a" -o "$work/sleeps" &&
  limited "$work/sleeps"; then
  echo "ok: sleeps end"
else
  fail "a sleep does not end"
fi

for name in scenarios/t_scenarios contract/t_aging contract/t_all contract/t_deadline contract/t_fork \
  contract/t_with posix/t_posix_results; do
  plain_test "$compiler" "$work/generic" "$top_srcdir/tests/$name.c" || status=1
done
for name in core/t_sleep faults/t_fault_clock faults/t_fault_memory; do
  plain_test "$compiler" "$work/generic" "$top_srcdir/tests/inside/$name.c" || status=1
done
plain_test "$compiler" "$work/generic" "$top_srcdir/tests/search/stress" || status=1
exit "$status"
