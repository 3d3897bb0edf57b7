#!/bin/sh
# SPDX-License-Identifier: MIT
# exports.sh - check that the shared and the static library export what the headers declare, and nothing else.
set -u

: "${top_srcdir:=$(cd "$(dirname "$0")/../../.." && pwd)}" "${top_builddir:=$PWD}"
. "$top_srcdir/tests/support/script.sh"
needs nm readelf

# same WHAT FILE OTHER_WHAT FILE - check that both files have the same lines.
same() {
  if [ ! -s "$2" ]; then
    fail "found no functions in $1"
  elif diff "$2" "$4" > "$work/diff"; then
    echo "ok: $1 and $3 name the same $(wc -l < "$2") functions"
  else
    echo "FAILED: $1 (<) and $3 (>) differ"
    cat "$work/diff"
    status=1
  fi
}

# A declaration may be longer than a line, but its name is on the first line.
sed -n 's/^FAIRSEM_API .*[ *]\(fairsem_[a-z0-9_]*\)(.*/\1/p' \
  "$top_srcdir/include/fairsem.h" "$top_srcdir/include/fairsem/shared.h" \
  "$top_srcdir/include/fairsem/posix.h" | sort > "$work/header"
sed -n 's/^ *\(fairsem_[a-z0-9_]*\)[*]*;.*/\1/p' "$top_srcdir/src/fairsem.map" | sort > "$work/map"
same "the headers" "$work/header" fairsem.map "$work/map"

# annotate_valgrind.c must wrap each function with an object as its first argument, so that Helgrind and DRD
# know the object.  Not wrapped: functions that do nothing, or only call other functions.
sed -n 's/^FAIRSEM_API .*[ *]\(fairsem_[a-z0-9_]*\)(\(const \)*fairsem\(_[a-z]*\)*_t [*].*/\1/p' \
  "$top_srcdir/include/fairsem.h" "$top_srcdir/include/fairsem/posix.h" |
  grep -v -x -e 'fairsem_units_.*' -e fairsem_with -e fairsem_sem_close | sort > "$work/objects"
sed -n 's/^WRAP.*(\(fairsem_[a-z0-9_]*\),.*/\1/p' "$top_srcdir/src/tools/annotate_valgrind.c" |
  sort > "$work/wrapped"
same "the headers" "$work/objects" annotate_valgrind.c "$work/wrapped"

# visible FILE - print the global names, without symbols of compilers, sanitizers and gcov, of <sys/sdt.h>, and
# of annotate_valgrind.c.  fairsem_private.h explains the suffix _time64.
visible() {
  nm -g --defined-only "$1" | awk 'NF == 3 { sub(/_time64$/, "", $3); print $3 }' |
    grep -v -e '^__' -e '^DW\.' -e '^_\.stapsdt\.' -e '^_vgw' | sort
}

# libcore.a has the objects before src/local_names.sh hides their private names.
core=$top_builddir/.libs/libcore.a
if [ ! -f "$core" ]; then
  echo "FAILED: there is no archive $core"
  exit 1
fi
visible "$core" > "$work/core"
if grep -v -e '^fairsem_' -e '^fs_' "$work/core" > "$work/foreign"; then
  echo "FAILED: names in the archive that are neither fairsem_* nor fs_*:"
  cat "$work/foreign"
  status=1
else
  echo "ok: the objects define nothing but fairsem_* and fs_*"
fi

# clash ARCHIVE - link and run a program that defines a function for each private name.
clash() {
  {
    cat << '_EOF'
#include <fairsem.h>
#include <stdlib.h>
_EOF
    sed -n 's/^\(fs_[a-z0-9_]*\)$/void \1(void); void \1(void) { abort(); }/p' "$work/core"
    cat << '_EOF'
static fairsem_t slots = FAIRSEM_INITIALIZER(0);
static void *give(void *arg)
{
    while (fairsem_waiters(&slots) == 0)
        continue;
    fairsem_release(&slots, 1);
    return arg;
}
int main(void)
{
    pthread_t thread;
    return pthread_create(&thread, NULL, give, NULL) != 0 || fairsem_acquire(&slots, 1) != 0
        || pthread_join(thread, NULL) != 0;
}
_EOF
  } > "$work/clash.c"
  # shellcheck disable=SC2086 # lists
  $CC -std=c11 ${CFLAGS-} -I"$top_srcdir/include" "$work/clash.c" "$1" -pthread \
    -o "$work/clash" > "$work/log" 2>&1 && "$work/clash" >> "$work/log" 2>&1
}

static=$top_builddir/.libs/libfairsem.a
if [ -z "$(made old_library)" ]; then
  not_tried "the static library, which was not built (--disable-static)"
elif configure_says have_local_names no; then
  not_here "the names in the static library, which could not be hidden"
else
  visible "$static" > "$work/static"
  same "the headers" "$work/header" "${static##*/}" "$work/static"
  if clash "$core"; then
    fail "a program that defines all private names links with the objects: a bad test"
  elif clash "$static"; then
    echo "ok: a program can define all $(grep -c '^fs_' "$work/core") private names"
  else
    echo "FAILED: a program cannot define the private names"
    cat "$work/log"
    status=1
  fi
fi

shared=$(made dlname)
if [ -z "$shared" ]; then
  [ "$status" -eq 0 ] || exit "$status"
  skip "the shared library, which was not built (--disable-shared)"
fi
shared=$top_builddir/.libs/$shared

# Names of the shared library, without their versions, and without the entries for versions.
nm -D --defined-only "$shared" | awk '$2 != "A" { sub(/(_time64)?@.*/, "", $3); print $3 }' |
  grep -v '^_vgw' | sort > "$work/shared"
same "the headers" "$work/header" "${shared##*/}" "$work/shared"

# ---------------------------------------------------------------- libfairsem-cluster
sed -n 's/^FAIRSEM_API .*[ *]\(fairsem_[a-z0-9_]*\)(.*/\1/p' \
  "$top_srcdir/include/fairsem/cluster.h" | sort > "$work/cluster"
sed -n 's/^ *\(fairsem_[a-z0-9_]*\)[*]*;.*/\1/p' "$top_srcdir/src/cluster/cluster.map" |
  sort > "$work/map"
same "cluster.h" "$work/cluster" cluster.map "$work/map"
cluster=$top_builddir/.libs/libfairsem-cluster
if configure_says have_cluster yes; then
  nm -D --defined-only "$cluster.so" | awk '$2 != "A" { sub(/(_time64)?@.*/, "", $3); print $3 }' |
    sort > "$work/shared"
  same "cluster.h" "$work/cluster" libfairsem-cluster.so "$work/shared"
  if [ -n "$(made old_library)" ] && ! configure_says have_local_names no; then
    visible "$cluster.a" > "$work/static"
    same "cluster.h" "$work/cluster" libfairsem-cluster.a "$work/static"
  fi
  readelf -d "$cluster.so" | grep -q 'FLAGS.*NODELETE' ||
    fail "libfairsem-cluster is not marked NODELETE"
else
  not_tried "libfairsem-cluster, which was not built"
fi

# Waiting threads are inside the library, so its code must stay loaded.
if readelf -d "$shared" | grep -q 'FLAGS.*NODELETE'; then
  echo "ok: dlclose does not unload it (NODELETE)"
else
  fail "the shared library is not marked NODELETE"
fi
exit "$status"
