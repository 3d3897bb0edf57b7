#!/bin/sh
# SPDX-License-Identifier: MIT
# bindings.sh - the package for Python installs, works with the installed library, and passes its
# tests; and the library can be called from Go.
set -u

: "${top_srcdir:=$(cd "$(dirname "$0")/../../.." && pwd)}" "${top_builddir:=$PWD}"
. "$top_srcdir/tests/support/script.sh"
ran=0
[ -e "$top_builddir/.libs/libfairsem.so" ] || skip "the shared library was not built"
case " $CFLAGS " in
  *-fsanitize=*) not_here "the library has a sanitizer, which Python does not load" && exit 77 ;;
esac
case $CC in
  *musl-gcc*) not_here "the library is for musl, and the commands of this machine are not" && exit 77 ;;
esac
# machine FILE - what its ELF header says of word size, byte order and machine.
machine() {
  od -An -tx1 -j4 -N16 "$1" | tr -s ' \n' '  ' | cut -d ' ' -f 2-3,16-17
}
if [ "$(machine "$top_builddir/.libs/libfairsem.so")" != "$(machine /bin/sh)" ]; then
  not_here "the library is for another machine than the commands of this one"
  exit 77
fi

# passes WHAT COMMAND... - its output only if it fails.
passes() {
  what=$1
  shift
  if "$@" > "$work/log" 2>&1 < /dev/null; then
    echo "ok: $what"
  else
    cat "$work/log"
    fail "$what"
    return 1
  fi
}

# at_least VERSION COMMAND... - does it print a version that is not older?
at_least() {
  least=$1
  shift
  found=$("$@" 2> /dev/null | sed -n 's/^[^0-9]*\([0-9][0-9.]*\).*/\1/p' | head -n 1)
  [ -n "$found" ] && printf '%s\n' "$least" "$found" | sort -V -C
}

# ---------------------------------------------------------------- the library, installed
passes "make install" "$MAKE" -C "$top_builddir" install DESTDIR="$work/root" || exit 1
pc=$(find "$work/root" -name fairsem.pc)
libdir=$(dirname "$(dirname "$pc")")
# The packages are copied: what builds them writes beside them.
cp -R "$top_srcdir/packaging" "$work/packaging" && chmod -R u+w "$work/packaging" || exit 99
LD_LIBRARY_PATH=$libdir${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
# fairsem.pc names the prefix without the directory that make install was given.
PKG_CONFIG_PATH=$libdir/pkgconfig
PKG_CONFIG_SYSROOT_DIR=$work/root
export LD_LIBRARY_PATH PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR

# ---------------------------------------------------------------- Python
# The first Python that has pytest, else one with unittest, as each has.
python=
for candidate in /usr/bin/python3 python3; do
  if has "$candidate" && at_least 3.8 "$candidate" --version; then
    python=$candidate
    ! "$candidate" -c 'import pytest' 2> /dev/null || break
  fi
done

use_python() {
  PYTHONPATH=$work/packaging/python PYTHONDONTWRITEBYTECODE=1
  FAIRSEM_CFLAGS=-I$top_srcdir/include
  export PYTHONPATH PYTHONDONTWRITEBYTECODE FAIRSEM_CFLAGS
  if "$python" -c 'import setuptools, pip, wheel' 2> /dev/null; then
    PYTHONPATH=
    passes "pip install" "$python" -m pip install --no-index --no-build-isolation --no-deps \
      --disable-pip-version-check --target "$work/site" "$work/packaging/python" || return
    PYTHONPATH=$work/site
  else
    not_tried "pip install: $python has not pip, setuptools and wheel"
  fi
  cd "$work/packaging/python/tests" || return
  if "$python" -c 'import pytest' 2> /dev/null; then
    passes "Python: $("$python" --version), pytest" "$python" -m pytest -q -p no:cacheprovider .
  else
    passes "Python: $("$python" --version), unittest" "$python" -m unittest discover
  fi
  # The table of README.md, briefly.
  passes "Python: compare.py" "$python" ../compare.py 0.02
  ran=$((ran + 1))
}
if [ -n "$python" ]; then
  use_python
else
  not_tried "Python: there is no python3, version 3.8 or later"
fi

# ---------------------------------------------------------------- Go's race detector
# It defines the names of ThreadSanitizer, too, but must not be called by threads that it does not know.
cat > "$work/race.c" << '_EOF'
#include <fairsem.h>
#include <stdlib.h>

void __tsan_acquire(const void *object);
void __tsan_release(const void *object);
void __tsan_acquire(const void *object) { exit(object == NULL ? 2 : 3); }
void __tsan_release(const void *object) { exit(object == NULL ? 2 : 3); }
#if GO
void __tsan_go_start(void);
void __tsan_go_start(void) {}
#endif

int main(void)
{
    fairsem_t *sem;

    if (fairsem_new(&sem, 1, NULL) != 0 || fairsem_acquire(sem, 1) != 0)
        return 1;
    return fairsem_release(sem, 1);
}
_EOF
# called GO STATUS WHAT
called() {
  # shellcheck disable=SC2086 # lists
  $CC -std=c11 $CFLAGS -DGO="$1" -I"$top_srcdir/include" "$work/race.c" -rdynamic -o "$work/race" \
    -L"$libdir" -lfairsem -pthread || { fail "race.c does not build" && return; }
  "$work/race"
  result=$?
  if [ "$result" -eq "$2" ]; then
    echo "ok: $3"
  else
    fail "$3: exit status $result, not $2"
  fi
}
called 0 3 "the library tells ThreadSanitizer"
called 1 0 "the library leaves Go's race detector alone"

[ "$ran" -gt 0 ] || [ "$status" -ne 0 ] || skip "there is no Python"
exit "$status"
