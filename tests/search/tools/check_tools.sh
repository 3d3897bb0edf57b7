#!/bin/sh
# SPDX-License-Identifier: MIT
# check_tools.sh - the library and a selection of its tests under tools that find faults in C
# programs; called by `make check-tools`.
#
#   check_tools.sh [TOOL...]      these tools, or all of them
#
# Each tool must report no error of the library, but one of each of its canaries: programs with one
# fault each, run in the same way, with the same suppressions.  It must report no error of the same
# canaries without the fault.  The files *.supp and accepted.txt beside this one say what is
# suppressed, and why.
set -u
export LC_ALL=C

: "${top_srcdir:=$(cd "$(dirname "$0")/../../.." && pwd)}" "${top_builddir:=$PWD}"
top_srcdir=$(cd "$top_srcdir" && pwd) || exit 99
here=$top_srcdir/tests/search/tools
. "$top_srcdir/tests/support/result.sh"
mkdir -p "$top_builddir/tests" &&
  work=$(mktemp -d "$top_builddir/tests/tools.XXXXXX") && work=$(cd "$work" && pwd) || exit 99
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
# The make below must not inherit options and job slots.
unset MAKEFLAGS MFLAGS MAKELEVEL
make=${MAKE:-make}
jobs=$(getconf _NPROCESSORS_ONLN 2> /dev/null || echo 2)

all_tools='tsan-gcc tsan-clang asan-gcc asan-clang ubsan-gcc ubsan-clang lsan-gcc
  helgrind drd memcheck cppcheck clang-tidy gcc-analyzer'

# ---------------------------------------------------------------- what is run
# Enough time for slow tests.
CK_TIMEOUT_MULTIPLIER=${CK_TIMEOUT_MULTIPLIER:-5}
export CK_TIMEOUT_MULTIPLIER
limit=
! has timeout || limit="timeout -k 10 $(hang_s)"

# The tests except those named.
tests_but() {
  for t in "$top_srcdir"/tests/*/*/t_*.c; do
    name=$(basename "$t" .c)
    case " $* " in
      *" $name "*) ;;
      *) echo "$name" ;;
    esac
  done
}

# t_posix_lifetime and t_posix_signals take as long as many others together, t_fault_unload and
# t_fault_plugin have no library of their own to be instrumented, and t_shared_cut needs the test
# build.  A tool for races sees only one of two processes: t_shared_apart has both in one.
race_tests=$(tests_but t_posix_lifetime t_posix_signals t_fault_unload t_fault_plugin \
  t_shared_cut t_shared_damage t_shared_death t_shared_open t_shared_posix_open \
  t_shared_posix_unlink t_shared_storm)

# Faults of one thread need fewer tries than races.  A sanitizer's frames are several times as
# large, so that 16 KiB are too small for any thread.
memory_tests=$(tests_but t_posix_lifetime t_posix_signals t_fault_unload t_fault_plugin \
  t_shared_cut \
  t_deadline t_lifetime t_mixed_stress t_fault_cancel t_fault_signals t_fault_threads t_token)

# Tests that allocate, or whose threads do.
leak_tests='t_cancel t_dump t_guard t_fault_resources t_notify t_priority t_sleep t_stress t_ticket
  t_ticket_wait t_units t_with'

# Tests that are not too slow under valgrind, which runs one thread at a time: without thousands of
# rounds, without threads that must be in time, and without forks of a process with threads, whose
# history valgrind would carry over into the child.
valgrind_tests='t_debt t_dump t_guard t_misuse t_notify t_priority t_results t_stat t_stress
  t_mixed_stress t_ticket_wait t_units t_waitq t_fault_limits'

# ---------------------------------------------------------------- the table
failures=0 missing=0
table=$work/table
: > "$table"

# row TOOL VERSION WHAT FINDINGS - print one line of the table, with the seconds since $started.
row() {
  printf '%-13s %-10s %-42s %-26s %4d s\n' "$1" "$2" "$3" "$4" "$(($(date +%s) - started))" |
    tee -a "$table"
}

# without TOOL WHY - leave out a tool; if all must be tried, that is a failure.
without() {
  row "$1" - "skipped: $2" -
  [ "${FAIRSEM_TRY_ALL-}" != yes ] || missing=$((missing + 1))
}

# verdict TOOL VERSION WHAT FINDINGS CANARIES WRONG-CANARIES - print the row, and count failures.
verdict() {
  found="$4 findings"
  [ "$4" -ne 1 ] || found="1 finding"
  row "$1" "$2" "$3" "$found, canaries $(($5 - $6))/$5"
  if [ "$4" -ne 0 ] || [ "$6" -ne 0 ]; then
    failures=$((failures + 1))
  fi
}

# complain HEADING FILE - the part of a log with the errors.
complain() {
  echo "---- $1"
  head -n 60 "$2"
}

# ---------------------------------------------------------------- tools that run programs
# count_tests TOOL DIR - set tests and findings.
count_tests() {
  tests=0 findings=0
  for status_file in "$2"/t_*.status; do
    [ -e "$status_file" ] || continue
    name=$(basename "$status_file" .status)
    tests=$((tests + 1))
    case $(cat "$status_file") in
      0) ;;
      77) tests=$((tests - 1)) ;;
      *)
        findings=$((findings + 1))
        complain "$1: $name" "$2/$name.log"
        ;;
    esac
  done
}

# count_canaries TOOL DIR CANARY=WORDS... - set canaries and wrong.  The tool must end the canary
# with a failure and print the words (a regular expression; _ stands for a space).
count_canaries() {
  tool=$1 dir=$2 canaries=0 wrong=0
  shift 2
  for canary; do
    name=${canary%%=*} words=$(echo "${canary#*=}" | tr _ ' ')
    canaries=$((canaries + 1))
    if [ "$(cat "$dir/$name.status")" = 0 ] || ! grep -Eq -e "$words" "$dir/$name.log"; then
      complain "$tool did not report $name ($words)" "$dir/$name.log"
    elif [ "$(cat "$dir/$name.healthy.status")" != 0 ]; then
      complain "$tool reports an error in $name without its fault" "$dir/$name.healthy.log"
    else
      continue
    fi
    wrong=$((wrong + 1))
  done
}

# dynamic TOOL VERSION TESTS COMPILER FLAGS RUN CANARY=WORDS...
dynamic() {
  tool=$1 version=$2 selection=$3 compiler=$4 flags=$5 run=$6 dir=$work/$1
  shift 6
  mkdir "$dir"
  names=$(for canary; do echo "${canary%%=*}"; done)
  # echo joins lines: a list with newlines cannot be an argument of make.
  # shellcheck disable=SC2086,SC2116 # lists
  if ! (cd "$dir" && "$make" -j"$jobs" -f "$here/build.mk" SRC="$top_srcdir" \
    CC="$compiler" FLAGS="$flags" RUN="$run" TESTS="$(echo $selection)" \
    CANARIES="$(echo $names)") > "$dir/make.log" 2>&1; then
    tail -n 30 "$dir/make.log"
    row "$tool" "$version" "could not be built or run" "failed"
    failures=$((failures + 1))
    return
  fi
  count_tests "$tool" "$dir"
  count_canaries "$tool" "$dir" "$@"
  verdict "$tool" "$version" "$tests test programs" "$findings" "$canaries" "$wrong"
}

# sanitizer TOOL TESTS FLAGS CANARY=WORDS... - with the compiler at the end of the name TOOL.
sanitizer() {
  tool=$1 chosen=$2 flags=$3 compiler=${1##*-}
  shift 3
  # shellcheck disable=SC2086 # a list of flags
  if can_run "$compiler" $flags; then
    dynamic "$tool" "$("$compiler" -dumpversion)" "$chosen" "$compiler" "$flags" \
      "$limit" "$@"
  else
    without "$tool" "no $compiler with $flags here"
  fi
}

tsan() {
  TSAN_OPTIONS="halt_on_error=1 detect_deadlocks=1 second_deadlock_stack=1"
  export TSAN_OPTIONS
  sanitizer "$1" "$race_tests" "-fsanitize=thread" \
    'canary_race=data_race' 'canary_relaxed=data_race' 'canary_lock_order=lock-order-inversion'
}

asan() {
  ASAN_OPTIONS="detect_stack_use_after_return=1 detect_leaks=1"
  export ASAN_OPTIONS
  sanitizer "$1" "$race_tests" "-fsanitize=address" \
    'canary_use_after_return=stack-use-after-return' 'canary_use_after_free=heap-use-after-free' \
    'canary_leak=detected_memory_leaks'
}

ubsan() {
  UBSAN_OPTIONS="print_stacktrace=1"
  export UBSAN_OPTIONS
  sanitizer "$1" "$memory_tests" "-fsanitize=undefined -fno-sanitize-recover=all" \
    'canary_undefined=misaligned_address'
}

lsan() {
  sanitizer "$1" "$leak_tests" "-fsanitize=leak" 'canary_leak=detected_memory_leaks'
}

# valgrind_tool TOOL FLAGS OPTIONS CANARY=WORDS...
valgrind_tool() {
  tool=$1 flags=$2 options=$3
  shift 3
  # shellcheck disable=SC2086 # flags
  if ! command -v valgrind > /dev/null 2>&1 || ! can_run gcc $flags; then
    without "$tool" "no valgrind here (package valgrind)"
    return
  fi
  [ ! -e "$here/$tool.supp" ] || options="$options --suppressions=$here/$tool.supp"
  # Without --fair-sched a thread that polls keeps all others from running.
  dynamic "$tool" "$(valgrind --version | sed 's/valgrind-//')" "$valgrind_tests" gcc "$flags" \
    "$limit valgrind --tool=$tool --fair-sched=yes --error-exitcode=9 $options" "$@"
}

# Like DRD by default, do not check stacks: an annotation comes before its store, so the store
# itself seems to come too late, and a later use of the waiter's stack seems to be a race.
# ThreadSanitizer checks stacks.
helgrind() {
  valgrind_tool helgrind "-include $here/annotations.h -DUNDER_HELGRIND=1" \
    "--history-level=approx --check-stack-refs=no" \
    'canary_race=Possible_data_race' 'canary_relaxed=Possible_data_race' \
    'canary_lock_order=lock_order' 'canary_unlock=unlocked_a_not-locked_lock'
}

drd() {
  valgrind_tool drd "-include $here/annotations.h" "" \
    'canary_race=Conflicting_(load|store)' 'canary_relaxed=Conflicting_(load|store)' \
    'canary_unlock=Mutex_not_locked'
}

memcheck() {
  valgrind_tool memcheck "" "--leak-check=full --errors-for-leak-kinds=definite" \
    'canary_use_after_free=Invalid_(read|write)' 'canary_leak=definitely_lost' \
    'canary_uninitialised=uninitialised'
}

# ---------------------------------------------------------------- tools that read sources
sources=$(cd "$top_srcdir" && echo src/*/*.c)
if ! pkg-config --exists libcurl jansson 2> /dev/null; then
  not_tried "src/cluster/, without the headers of libcurl and jansson"
  # shellcheck disable=SC2086 # a list
  sources=$(printf '%s\n' $sources | grep -v /cluster)
fi
# -fexceptions as in configure: without it, a cancellation is a longjmp.
language="-std=c11 -D_POSIX_C_SOURCE=200809L -D_DEFAULT_SOURCE -fexceptions -Iinclude -Isrc -Isrc/core
  -Isrc/cluster"
module="-DFAIRSEM_MODULE_PATH=\"/\" -DFAIRSEM_LIBRARY_DIRECTORY=\"/\""

# Each prints its findings in these files of the source tree as FILE:LINE: CHECK message.
read_cppcheck() {
  cppcheck --std=c11 --enable=warning,style,performance,portability --quiet \
    --template='{file}:{line}: {id} {message}' --template-location='' -D_POSIX_C_SOURCE=200809L \
    -D__GNUC__=12 -D__linux__ -D__x86_64__ -D__SIZEOF_POINTER__=8 -Iinclude -Isrc -Isrc/core -Isrc/cluster "$@" 2>&1
}

# each_source COMMAND WORDS... -- FILE... - the command in sh for each file, $file, some at a time.  A
# file for which it fails was not analyzed, which is a finding.
each_source() {
  what=$1
  shift
  words=
  while [ "$1" != -- ]; do words="$words $1" && shift; done
  shift
  # shellcheck disable=SC2086 # a list
  printf '%s\n' "$@" | xargs -P "$jobs" -I{} sh -c "file={}
    { $what; } > '$work/read.'\$\$ 2>&1 || echo '{}:1:1: warning: was not analyzed [could-not-run]'
    cat '$work/read.'\$\$; rm '$work/read.'\$\$" sh $words
}

# Not clang-analyzer-unix.Vfork: clang-tidy 14 crashes in it (src/limit/run.c).
read_clang_tidy() {
  # shellcheck disable=SC2016 # for the shell inside
  each_source 'clang-tidy --quiet --checks="-*,bugprone-*,cert-*,clang-analyzer-*,concurrency-*,misc-*,
performance-*,portability-*,readability-inconsistent-declaration-parameter-name,
readability-misleading-indentation,readability-non-const-parameter,readability-redundant-*,
-clang-analyzer-unix.Vfork" "$file" -- "$@"' "$language" "$module" -- "$@" |
    sed -n -e "s|^$top_srcdir/||" \
      -e 's|^\([^ :]*:[0-9]*\):[0-9]*: [a-z]*: \(.*\) \[\([^ ]*\)\]$|\1: \3 \2|p'
}

read_gcc_analyzer() {
  # At -O2 it analyzes inline functions where they are called.
  # shellcheck disable=SC2016 # for the shell inside
  each_source 'gcc "$@" -O2 -Wall -Wextra -fanalyzer -fdiagnostics-plain-output -c "$file" -o /dev/null' \
    "$language" "$module" -- "$@" |
    sed -n 's|^\([^ :]*:[0-9]*\):[0-9]*: warning: \(.*\) \[\([^ ]*\)\]$|\1: \3 \2|p'
}

# not_accepted TOOL - print the findings that accepted.txt does not list; entries that match no
# finding go to $work/stale.  A finding with several names (a,b) is accepted if all of them are.
not_accepted() {
  awk -v tool="$1" -v stale="$work/stale" '
    FNR == NR {
      if ($1 == tool) { key = $2 " " $3; line[key] = $0; used[key] = 0 }
      next
    }
    {
      split($1, place, ":")
      n = split($2, check, ",")
      accepted = n > 0
      for (i = 1; i <= n; i++) {
        here = place[1] " " check[i]
        anywhere = "* " check[i]
        if (here in used) used[here]++
        else if (anywhere in used) used[anywhere]++
        else accepted = 0
      }
      if (!accepted) print
    }
    END { for (key in used) if (!used[key]) print line[key] > stale }' "$here/accepted.txt" -
}

# static TOOL PROGRAM VERSION WORDS... - the words must be reported about canary_static.
static() {
  tool=$1 program=$2 version=$3 canaries=0 wrong=0
  shift 3
  if ! command -v "$program" > /dev/null 2>&1; then
    without "$tool" "no $program here"
    return
  fi
  reader=read_$(echo "$tool" | tr - _)
  rm -f "$work/stale"
  # shellcheck disable=SC2086 # a list
  (cd "$top_srcdir" && "$reader" $sources) > "$work/raw"
  not_accepted "$tool" < "$work/raw" > "$work/found"
  [ ! -s "$work/found" ] || complain "$tool" "$work/found"
  [ ! -s "$work/stale" ] || { echo "---- no longer needed:"; cat "$work/stale"; }
  (cd "$top_srcdir" && "$reader" tests/search/tools/canary_static.c) > "$work/canary"
  for words; do
    canaries=$((canaries + 1))
    if ! grep -Eq -e "$words" "$work/canary"; then
      complain "$tool did not report $words" "$work/canary"
      wrong=$((wrong + 1))
    fi
  done
  findings=$(wc -l < "$work/found")
  what="$(echo "$sources" | wc -w) sources, $(($(wc -l < "$work/raw") - findings)) accepted"
  verdict "$tool" "$version" "$what" "$findings" "$canaries" "$wrong"
}

first_number() {
  grep -o '[0-9][0-9.]*' | head -n 1
}

# ---------------------------------------------------------------- main
# shellcheck disable=SC2086 # a list
[ $# -gt 0 ] || set -- $all_tools
begun=$(date +%s)
for tool; do
  started=$(date +%s)
  case $tool in
    tsan-gcc | tsan-clang) tsan "$tool" ;;
    asan-gcc | asan-clang) asan "$tool" ;;
    ubsan-gcc | ubsan-clang) ubsan "$tool" ;;
    lsan-gcc) lsan "$tool" ;;
    helgrind | drd | memcheck) "$tool" ;;
    cppcheck)
      static cppcheck cppcheck "$(cppcheck --version 2> /dev/null | first_number)" nullPointer \
        doubleFree memleak
      ;;
    clang-tidy)
      static clang-tidy clang-tidy "$(clang-tidy --version 2> /dev/null | first_number)" \
        'core.NullDereference' 'unix.Malloc.*(released|freed)' 'unix.Malloc.*leak'
      ;;
    gcc-analyzer)
      static gcc-analyzer gcc "$(gcc -dumpversion 2> /dev/null)" null-dereference double-free \
        malloc-leak
      ;;
    *)
      echo "no tool $tool; there are: $all_tools" >&2
      exit 2
      ;;
  esac
done

echo
cat "$table"
passed=$(grep -c -v 'skipped: ' "$table")
skipped=$(grep -c 'skipped: ' "$table")
echo
echo "in $(($(date +%s) - begun)) seconds"
echo "$((passed - failures)) passed, $failures failed, $skipped skipped"
[ "$missing" -eq 0 ] || echo "FAILED: $missing tools are missing"
[ "$((failures + missing + status))" -eq 0 ] || exit 1
[ "$passed" -gt 0 ] || exit 77
