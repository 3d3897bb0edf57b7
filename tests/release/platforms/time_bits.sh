#!/bin/sh
# SPDX-License-Identifier: MIT
# time_bits.sh - on a 32-bit machine with two kinds of time_t, a program and a library of different
# kinds do not link.
#
# A program passes deadlines as struct timespec.  A library that was compiled for the other kind
# would read half of the seconds as nanoseconds, and return too early or never.  The script builds
# the library and programs for both kinds, and runs some tests.
set -u

: "${top_srcdir:=$(cd "$(dirname "$0")/../../.." && pwd)}" "${top_builddir:=$PWD}"
. "$top_srcdir/tests/support/script.sh"
# shellcheck source=tests/support/plain/plain.sh
. "$top_srcdir/tests/support/plain/plain.sh"

narrow="$CC -m32 -fexceptions -Wno-psabi"
wide="$narrow -D_TIME_BITS=64 -D_FILE_OFFSET_BITS=64"

# Both kinds must exist.  (Cross compilers conflict with a part of gcc-multilib: the headers of the
# kernel.)
cat > "$work/probe.c" <<'_EOF'
#include <errno.h>
#include <time.h>
int main(void) { return sizeof(time_t) == BYTES ? 0 : 1; }
_EOF
for kind in "4 $narrow" "8 $wide"; do
  if ! plain_compile "${kind#* }" -DBYTES="${kind%% *}" "$work/probe.c" -o "$work/probe" \
    > "$work/log" 2>&1 || ! "$work/probe"; then
    skip "$CC -m32 makes no programs with a time_t of ${kind%% *} bytes (gcc-multilib?)"
  fi
done

cat > "$work/deadlines.c" <<'_EOF'
#include <semaphore.h>
#include <fairsem.h>
#include <fairsem/posix.h>
#include <errno.h>

static struct timespec began, end;

static void set(clockid_t clock)
{
    clock_gettime(clock, &began);
    end = began;
    end.tv_nsec += 100000000;
    if (end.tv_nsec >= 1000000000) {
        end.tv_nsec -= 1000000000;
        end.tv_sec++;
    }
}

static int in_time(clockid_t clock, int error)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return error == ETIMEDOUT
        && (now.tv_sec > end.tv_sec || (now.tv_sec == end.tv_sec && now.tv_nsec >= end.tv_nsec));
}

int main(void)
{
    static fairsem_t none = FAIRSEM_INITIALIZER(0);
    static const clockid_t clocks[] = { CLOCK_MONOTONIC, CLOCK_REALTIME };
    fairsem_ticket_t ticket = { { 0 } };
    fairsem_units_t units = { 0 };
    sem_t sem;

    for (int i = 0; i < 2; i++) {
        clockid_t clock = clocks[i];
        fairsem_wait_t how = { .clock = clock, .deadline = &end };

        set(clock);
        if (!in_time(clock, fairsem_acquire_until(&none, 1, clock, &end)))
            return 1;
        set(clock);
        if (!in_time(clock, fairsem_acquire_with(&none, 1, &how)))
            return 2;
        set(clock);
        if (!in_time(clock, fairsem_units_acquire(&units, &none, 1, &how)))
            return 3;
        set(clock);
        if (fairsem_ticket_take(&ticket, &none, 1, 0, NULL, NULL) != EINPROGRESS
            || !in_time(clock, fairsem_ticket_wait(&ticket, &how)))
            return 4;
        fairsem_ticket_return(&ticket);
        if (sem_init(&sem, 0, 0) != 0)
            return 5;
        set(clock);
        if (!in_time(clock, sem_clockwait(&sem, clock, &end) == -1 ? errno : 0))
            return 6;
    }
    set(CLOCK_REALTIME);
    return in_time(CLOCK_REALTIME, sem_timedwait(&sem, &end) == -1 ? errno : 0) ? 0 : 7;
}
_EOF

# together PROGRAM COMPILER LIBRARY - it keeps its deadlines, or does not link; both are `narrow` or
# `wide`.
together() {
  if ! plain_compile "$2" "$work/deadlines.c" "$work/$3/libcore.a" -o "$work/prog" \
    > "$work/log" 2>&1; then
    if [ "$1" = "$3" ] || ! grep -q 'undefined reference.*fairsem_' "$work/log"; then
      cat "$work/log"
      fail "a $1 program does not link with a $3 library"
    else
      echo "ok: a $1 program does not link with a $3 library"
    fi
  elif ! limited "$work/prog"; then
    fail "a $1 program with a $3 library: a wrong deadline"
  else
    echo "ok: a $1 program keeps its deadlines with a $3 library"
  fi
}

plain_library "$narrow" "$work/narrow" || exit 1
plain_library "$wide" "$work/wide" || exit 1
for kind in narrow wide; do
  together narrow "$narrow" "$kind"
  together wide "$wide" "$kind"
done

for test in scenarios/t_scenarios contract/t_deadline contract/t_fork contract/t_fork_callbacks; do
  plain_test "$narrow" "$work/narrow" "$top_srcdir/tests/$test.c" narrow || status=1
  plain_test "$wide" "$work/wide" "$top_srcdir/tests/$test.c" wide || status=1
done
exit "$status"
