#!/bin/sh
# SPDX-License-Identifier: MIT
# probes.sh - check that the static probes are those of doc/tracing.md, and that they fire in gdb, and in
# bpftrace if the kernel permits it.
set -u

: "${top_srcdir:=$(cd "$(dirname "$0")/../../.." && pwd)}" "${top_builddir:=$PWD}"
. "$top_srcdir/tests/support/script.sh"
if ! configure_says have_probes yes; then
  skip "built without probes (package systemtap-sdt-dev)"
fi
name=$(made dlname)
if [ -z "$name" ] || ! has readelf; then
  skip "there is no shared library, or no readelf"
fi
pids=''
# shellcheck disable=SC2086 # a list
trap '[ -z "$pids" ] || kill $pids; rm -rf "$work"' EXIT
library=$(cd "$top_builddir/.libs" && pwd)/$name

# ---------------------------------------------------------------- the page
# A line for each probe: its name, and its number of arguments.
readelf -n "$library" | awk '
  $1 == "Provider:" { ours = $2 == "fairsem" }
  $1 == "Name:" { name = $2 }
  $1 == "Arguments:" && ours { print name, NF - 1 }' | sort -u > "$work/built"
# shellcheck disable=SC2016 # not for the shell
sed -n 's/^| `\([a-z_]*\)` | \([^|]*[^ ]\) *| .*/\1 \2/p' "$top_srcdir/doc/tracing.md" |
  awk '{ print $1, NF - 1 }' | sort > "$work/page"
configure_says have_shared yes || sed -i '/^shared_/d' "$work/page"
if [ -s "$work/built" ] && diff "$work/built" "$work/page" > "$work/diff"; then
  echo "ok: the library has the $(wc -l < "$work/built") probes of doc/tracing.md"
else
  echo "FAILED: probes of the library (<) and of doc/tracing.md (>), with how many arguments"
  cat "$work/diff"
  status=1
fi

# ---------------------------------------------------------------- gdb
# shellcheck disable=SC2086 # lists
if ! $CC -std=c11 -D_POSIX_C_SOURCE=200809L ${CFLAGS-} -I"$top_srcdir/include" \
  "$top_srcdir/tests/release/debug/probed.c" "$library" -Wl,-rpath,"${library%/*}" -pthread \
  -o "$work/probed" > "$work/log" 2>&1; then
  cat "$work/log"
  echo "FAILED: the program cannot be built"
  exit 1
fi

# Is the time above 0 and below an hour?  The result is a number: for a string, gdb would call malloc in the
# program.
# shellcheck disable=SC2016 # not for the shell
a_while='$_probe_arg4 > 0 && $_probe_arg4 < 3600000000000'

# on PROBE FORMAT ARGUMENT... - print gdb's commands for a probe.  An ARGUMENT is the number of an argument of
# the probe, or TIME, the length of a wait.
on() {
  probe=$1 format=$2 list=''
  shift 2
  for argument; do
    case $argument in
      TIME) list="$list, $a_while" ;;
      *) list="$list, \$_probe_arg$argument" ;;
    esac
  done
  printf '%s\n' "break -probe-stap fairsem:$probe" commands silent \
    "printf \"$probe $format\\n\"$list" continue end
}

gdb_sees() {
  {
    printf '%s\n' 'set pagination off' 'set confirm off' 'set width 0' \
      'set startup-with-shell off' 'set print thread-events off' \
      'set print inferior-events off' 'break main' "run $work/expected" 'delete breakpoints'
    on wait_begin '%lx %s %ld %lu %d' 0 1 2 3 4
    on grant '%lx %s %ld %lu time %d' 0 1 2 3 TIME
    on share '%lx %s %lu %lx %d %lu' 0 1 2 3 4 5
    on aged '%lx %s %ld %lu time %d' 0 1 2 3 TIME
    on timeout '%lx %s %ld %lu time %d' 0 1 2 3 TIME
    on cancel '%lx %s %ld %lu time %d %s' 0 1 2 3 TIME 5
    on close '%lx %s %d' 0 1 2
    on over_release '%lx %s %ld %ld' 0 1 2 3
    if grep -q '^shared_' "$work/built"; then
      on shared_wait_begin '%lx inode %ld %ld %d' 0 2 3 4
      on shared_grant '%lx inode %ld %ld time %d %ld' 0 2 3 TIME 5
      on shared_timeout '%lx inode %ld %ld time %d' 0 2 3 TIME
      on shared_cancel '%lx inode %ld %ld time %d' 0 2 3 TIME
      on shared_returned '%lx inode %ld %ld' 0 2 3
    fi
    printf '%s\n' 'continue' 'kill'
  } | sed -e 's/%ld/%lld/g' -e 's/%lu/%llu/g' -e 's/%lx/%llx/g' > "$work/commands"
  limited gdb -nx -q -batch -x "$work/commands" -ex quit "$work/probed" > "$work/gdb" 2>&1
  grep -E '^[a-z_]+ [0-9a-f]+ (events|inode) ' "$work/gdb" | sed 's/ time 1/ a while/' \
    > "$work/seen"
}

if ! has gdb; then
  not_tried "there is no gdb"
elif ! gdb_does 'Breakpoint 1, '; then
  not_here "gdb cannot run programs"
else
  gdb_sees
  if [ -s "$work/expected" ] && diff "$work/expected" "$work/seen" > "$work/diff"; then
    echo "ok: gdb sees all $(wc -l < "$work/seen") events at the probes"
  else
    echo "FAILED: the events that happen (<) and those that gdb sees at the probes (>)"
    cat "$work/diff" "$work/gdb"
    status=1
  fi
fi

# ---------------------------------------------------------------- bpftrace
# bpftrace needs a permission of the kernel that even root may lack.
if ! has bpftrace; then
  not_tried "there is no bpftrace"
elif ! limited bpftrace -e 'BEGIN { printf("it runs\n"); exit() }' 2>&1 |
  grep -q '^it runs'; then
  not_here "bpftrace, which the kernel does not permit"
else
  "$work/probed" &
  pids=$!
  limited bpftrace -e "usdt:$library:fairsem:grant {
    printf(\"%s %d %s\\n\", str(arg1), arg2, arg4 > 0 ? \"a while\" : \"?\");
    exit()
  }" > "$work/bpftrace" 2>&1
  if grep -q '^events 1 a while$' "$work/bpftrace"; then
    echo "ok: bpftrace sees a grant"
  else
    echo "FAILED: bpftrace does not see a grant"
    cat "$work/bpftrace"
    status=1
  fi
fi
exit "$status"
