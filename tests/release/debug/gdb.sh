#!/bin/sh
# SPDX-License-Identifier: MIT
# gdb.sh - check that gdb prints semaphores, tokens, tickets, and the semaphore that each thread waits for: in a
# live process, in a core file, and with a stripped library.
set -u

: "${top_srcdir:=$(cd "$(dirname "$0")/../../.." && pwd)}" "${top_builddir:=$PWD}"
. "$top_srcdir/tests/support/script.sh"
script=$top_srcdir/packaging/gdb/fairsem-gdb.py
name=$(made library_names | cut -d ' ' -f 1)
if [ -z "$(made dlname)" ]; then
  skip "the shared library, which was not built (--disable-shared)"
fi

# run_gdb ARGUMENT... - run gdb without the configuration of the user.
run_gdb() {
  limited gdb -nx -q -batch -iex 'set auto-load safe-path /nowhere' \
    -iex 'set startup-with-shell off' -iex 'set pagination off' -iex 'set width 0' \
    -iex 'set print thread-events off' "$@" 2>&1
}

if ! has gdb || ! run_gdb -ex 'python print(6 * 7)' | grep -q '^42$'; then
  skip "there is no gdb that knows Python"
fi
if ! gdb_does 'Breakpoint 1, '; then
  not_here "gdb cannot run programs" && exit 77
fi
cores=yes
if ! gdb_does 'Saved corefile' -ex "generate-core-file $work/trivial.core"; then
  cores=''
  not_here "a core file, which gdb cannot write"
fi

# ---------------------------------------------------------------- the program
mkdir "$work/lib" && cp "$top_builddir/.libs/$name" "$work/lib" || exit 99
soname=$(made dlname)
[ "$soname" = "$name" ] || ln -s "$name" "$work/lib/$soname" || exit 99
# shellcheck disable=SC2086 # lists
if ! $CC -std=c11 -D_GNU_SOURCE ${CFLAGS-} -g -I"$top_srcdir/include" \
  "$top_srcdir/tests/release/debug/waiting.c" "$work/lib/$name" -Wl,-rpath,"$work/lib" -pthread \
  -o "$work/waiting" > "$work/log" 2>&1; then
  cat "$work/log"
  echo "FAILED: the program cannot be built"
  exit 1
fi

# ---------------------------------------------------------------- the expected output
cat > "$work/info" << '_EOF'
thread 2 (LWP L) waits for 2 units of "buffers", number 0, priority 0, for T s
thread 3 (LWP L) waits for 1 unit of "buffers", number 2, priority -4, for T s
thread 4 (LWP L) waits for 1 unit of slots, number 0, priority 0, for T s
thread 5 (LWP L) waits for ticket A of "buffers"
thread 6 (LWP L) waits for 1 unit of fairsem_shared A, number 0, priority 0, for T s
thread 7 (LWP L) waits for 1 unit of fairsem_shared A, number 1, priority 0, for T s
thread 8 (LWP L) waits for 1 unit of fairsem_shared A, number 2, priority 0, for T s
thread 9 (LWP L) waits for 1 unit of fairsem_shared A, number 3, priority 0, for T s
fairsem "buffers": 0 of 4 available, 3 waiters for 6 units
  number 2, priority -4, for T s, 1 unit: thread 3 (LWP L)
  number 0, priority 0, for T s, 2 units: thread 2 (LWP L)
  number 1, priority 0, for T s, 3 units: ticket A
fairsem slots: 0 available, 1 waiter for 1 unit
  number 0, priority 0, for T s, 1 unit: thread 4 (LWP L)
fairsem_shared A: 0 of 2 available
  process P holds 2 units
  number 0, priority 0, for T s, 1 unit: process P
  number 1, priority 0, for T s, 1 unit: process P
  number 3, priority 0, for T s, 1 unit: process P
  number 2, priority 0, for T s, 1 unit: process P
_EOF
cat > "$work/values" << '_EOF'
$1 = fairsem "buffers": 0 of 4 available, 3 waiters for 6 units = {
  [0] = number 2, priority -4, for T s, 1 unit: thread 3 (LWP L),
  [1] = number 0, priority 0, for T s, 2 units: thread 2 (LWP L),
  [2] = number 1, priority 0, for T s, 3 units: ticket A
}
$2 = fairsem closed: 7 available, closed with ESHUTDOWN
$3 = token, 1 wait = {
  [0] = thread 3 (LWP L) for "buffers"
}
$4 = token, canceled with ECANCELED, 0 waits
$5 = ticket, waiting, 3 units of "buffers", number 1, priority 0, for T s
$6 = ticket, idle
fairsem slots: 0 available, 1 waiter for 1 unit
  number 0, priority 0, for T s, 1 unit: thread 4 (LWP L)
fairsem_shared A: 0 of 2 available
  process P holds 2 units
  number 0, priority 0, for T s, 1 unit: process P
  number 1, priority 0, for T s, 1 unit: process P
  number 3, priority 0, for T s, 1 unit: process P
  number 2, priority 0, for T s, 1 unit: process P
fairsem divided: 0 available, 4 waiters for 4 units, 2 shares
  number 4, priority 0, for T s, 1 unit: ticket A, share A of weight 3 with 1 request
  number 1, priority 0, for T s, 1 unit: ticket A, share A of weight 1 with 2 requests
  number 2, priority 0, for T s, 1 unit: ticket A, share A of weight 1 with 2 requests
  number 6, priority 0, for T s, 1 unit: ticket A
_EOF
cat "$work/info" "$work/values" > "$work/all"

# says WHAT FILE ARGUMENT... - check that gdb prints the text of FILE, in which letters stand for addresses (A),
# times (T), processes (P) and threads (L).  Output up to the line "BEGIN" does not count.
says() {
  what=$1 expected=$2
  shift 2
  run_gdb "$@" > "$work/output"
  sed -e '1,/^BEGIN$/d' "$work/output" | grep -v -e '^warning: ' -e '^Saved corefile' |
    sed -e 's/0x[0-9a-f]*/A/g' -e 's/process [1-9][0-9]*/process P/' \
      -e 's/LWP [1-9][0-9]*/LWP L/g' \
      -e 's/for \(at least \)*[0-9]*[.][0-9]* s/for T s/' > "$work/said"
  if diff "$expected" "$work/said" > "$work/diff"; then
    echo "ok: $what"
  else
    fail "$what: what gdb should print (<) and what it prints (>)"
    cat "$work/diff" "$work/output"
  fi
}

# The commands whose output is $work/all.
set -- -ex 'python print("BEGIN")' -ex 'info fairsem' -ex 'set print pretty on' \
  -ex 'print buffers' -ex 'print closed' -ex 'print token' -ex 'print canceled' \
  -ex 'print ticket' -ex 'print idle' -ex 'info fairsem &slots' \
  -ex 'info fairsem between' -ex 'info fairsem divided'

says "a live process" "$work/all" -ex 'break all_wait' -ex run -ex "source $script" "$@" \
  -ex "generate-core-file $work/core" "$work/waiting"
[ -z "$cores" ] ||
  says "a core file" "$work/all" -ex "source $script" "$@" "$work/waiting" "$work/core"

# With a clock that goes on by a second at each reading, the clock must be read once for the whole answer.
printf 'the clock was read once\n' | cat "$work/info" - > "$work/once"
says "all ages of an answer have one end" "$work/once" -ex 'break all_wait' -ex run -ex "source $script" \
  -ex 'python import time; began = time.clock_gettime_ns(time.CLOCK_MONOTONIC); read = []' \
  -ex 'python time.clock_gettime_ns = lambda clock: read.append(clock) or began + len(read) * 10**9' \
  -ex 'python print("BEGIN")' -ex 'info fairsem' \
  -ex 'python print("the clock was read " + ("once" if len(read) == 1 else str(len(read))))' "$work/waiting"

# ---------------------------------------------------------------- what it must refuse
# An uncaught exception of Python would be in the output, and fail the check.
cat > "$work/refused" << '_EOF'
No symbol "nonesuch" in current context.
nowhere is NULL.
0 is NULL.
number is no semaphore: Cannot access memory at address A.
-1 is no semaphore: Cannot access memory at address A.
&number is no semaphore: its type is int *.
noise is no semaphore: A is something else.
&token is no semaphore: its type is fairsem_token_t *.
main is no semaphore: its type is int (void).
&nowhere is no semaphore: its type is fairsem_t **.
A syntax error in expression, near `'.
Cannot access memory at address A
_EOF
set -- -ex 'python print("BEGIN")' -ex 'info fairsem nonesuch' -ex 'info fairsem nowhere' \
  -ex 'info fairsem 0' -ex 'info fairsem number' -ex 'info fairsem -1' -ex 'info fairsem &number' \
  -ex 'info fairsem noise' -ex 'info fairsem &token' -ex 'info fairsem main' \
  -ex 'info fairsem &nowhere' -ex 'info fairsem (' -ex 'print *nowhere'
says "what is no semaphore, in a live process" "$work/refused" -ex 'break all_wait' -ex run \
  -ex "source $script" "$@" "$work/waiting"
[ -z "$cores" ] ||
  says "what is no semaphore, in a core file" "$work/refused" -ex "source $script" "$@" \
    "$work/waiting" "$work/core"
echo 'The program is not running, and there is no core file.' > "$work/not-running"
says "no process" "$work/not-running" -ex "source $script" -ex 'python print("\nBEGIN")' \
  -ex 'info fairsem' "$work/waiting"
says "no program" "$work/not-running" -ex "source $script" -ex 'python print("\nBEGIN")' \
  -ex 'info fairsem slots'

# ---------------------------------------------------------------- the layout
if readelf -S -W "$work/lib/$name" | grep -q ' \.debug_info '; then
  run_gdb -ex 'break all_wait' -ex run -ex "source $script" \
    -ex "source $top_srcdir/tests/release/debug/layout.py" "$work/waiting" > "$work/output"
  grep -e '^ok' -e '^FAILED' "$work/output"
  grep -q '^ok' "$work/output" || { cat "$work/output" && fail "the layout of the structs"; }
else
  not_tried "the layout, as the library has no debug information"
fi

# ---------------------------------------------------------------- loaded by gdb itself, and stripped
# The directories are those of make install, below a prefix of this test.
auto=$work/share/gdb/auto-load
made=$top_builddir/packaging/gdb/$name-gdb.py
if cmp "$script" "$made"; then
  mkdir -p "$auto$work/lib" && cp "$made" "$auto$work/lib" || exit 99
  strip "$work/lib/$name" "$work/waiting" || exit 99
  # gdb does not know the name of the static semaphore `slots` after strip.
  sed 's/slots/A/' "$work/info" > "$work/stripped"
  says "a stripped program and library; the script is found and loaded" "$work/stripped" \
    -iex "set auto-load scripts-directory $auto" -iex "set auto-load safe-path $auto" \
    -ex 'handle SIGABRT stop nopass' -ex run -ex 'python print("BEGIN")' -ex 'info fairsem' \
    "$work/waiting"
else
  fail "the gdb script is not installed under the name of the library, $name"
fi
# ---------------------------------------------------------------- a leak, as doc/debugging.md looks for it
case $(uname -m) in
  x86_64)
    cat > "$work/server.c" << '_EOF'
#include <fairsem.h>
static fairsem_t slots = FAIRSEM_INITIALIZER_BOUNDED(4, 4);
static void *work(void *leaks)
{
    for (int i = 0; i < 10; i++)
        if (fairsem_acquire(&slots, 1) == 0 && (leaks == NULL || i != 7))
            fairsem_release(&slots, 1);
    return leaks;
}
int main(void)
{
    pthread_t thread[2];
    for (int i = 0; i < 2; i++)
        if (pthread_create(&thread[i], NULL, work, i == 1 ? &slots : NULL) != 0)
            return 1;
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    return 0;
}
_EOF
    # shellcheck disable=SC2086 # lists
    $CC -std=c11 -D_GNU_SOURCE ${CFLAGS-} -g -I"$top_srcdir/include" "$work/server.c" "$work/lib/$name" \
      -Wl,-rpath,"$work/lib" -pthread -o "$work/server" || exit 99
    sed -n '/^gdb -q -batch/,/^```/p' "$top_srcdir/doc/debugging.md" | grep -v '^```' > "$work/recipe"
    (cd "$work" && limited sh ./recipe) > "$work/out"
    grep -Eqx 'thread, semaphore 3 0x[0-9a-f]+ holds 1' "$work/out" && [ "$(wc -l < "$work/out")" -eq 1 ] ||
      fail "the recipe for a leak: $(cat "$work/out" "$work/gdb.log")"
    # The command of the page without gdb, but started on the test's own program and library.
    sed -n '/^bpftrace -p/,/^```/p' "$top_srcdir/doc/debugging.md" |
      sed -e '/^```/d' -e 's/-p "[^"]*"/-c .\/server/' > "$work/recipe"
    if ! has bpftrace; then
      not_tried "a leak by uprobes: there is no bpftrace"
    elif ! limited bpftrace -e 'BEGIN { exit(); }' > "$work/log" 2>&1; then
      not_here "bpftrace, which the kernel does not permit"
    else
      (cd "$work" && lib=$work/lib/$name limited sh ./recipe) > "$work/out" 2>&1
      sed -n 's/^@held\[.*, .*\]: //p' "$work/out" | sort > "$work/sums"
      printf '0\n1\n' | cmp -s - "$work/sums" || fail "the recipe with uprobes: $(cat "$work/out")"
    fi
    ;;
  *) not_here "a leak: the recipe names registers of x86-64" ;;
esac
exit "$status"
