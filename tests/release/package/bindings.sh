#!/bin/sh
# SPDX-License-Identifier: MIT
# bindings.sh - check that the package for Python installs, works with the installed library, and passes its
# tests; and that the library does not disturb Go's race detector.
set -u

: "${top_srcdir:=$(cd "$(dirname "$0")/../../.." && pwd)}" "${top_builddir:=$PWD}"
. "$top_srcdir/tests/support/script.sh"
ran=0
[ -n "$(made dlname)" ] || skip "the shared library was not built"
case " $CFLAGS " in
  *-fsanitize=*) not_here "the library has a sanitizer, which Python does not load" && exit 77 ;;
esac
case $CC in
  *musl-gcc*) not_here "the library is for musl, and the commands of this machine are not" && exit 77 ;;
esac
# machine FILE - print word size, byte order and machine from the ELF header of the file.
machine() {
  od -An -tx1 -j4 -N16 "$1" | tr -s ' \n' '  ' | cut -d ' ' -f 2-3,16-17
}
# Compare the machine of the compiler's programs, not of the library: a library for the wrong machine is a fault.
echo 'int main(void) { return 0; }' > "$work/trivial.c"
# shellcheck disable=SC2086 # lists
$CC $CFLAGS "$work/trivial.c" -o "$work/trivial" || exit 99
if [ "$(machine "$work/trivial")" != "$(machine /bin/sh)" ]; then
  not_here "the library is for another machine than the commands of this one"
  exit 77
fi

# passes WHAT COMMAND... - run the command; print its output only if it fails.
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

# at_least VERSION COMMAND... - does the command print this version or a newer one?
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
# Work on a copy: files that a build leaves in it are noticed, and do no harm to the source.
cp -R "$top_srcdir/packaging" "$work/packaging" && chmod -R u+w "$work/packaging" || exit 99
LD_LIBRARY_PATH=$libdir${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
# fairsem.pc names the prefix without DESTDIR.
PKG_CONFIG_PATH=$libdir/pkgconfig
PKG_CONFIG_SYSROOT_DIR=$work/root
export LD_LIBRARY_PATH PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR

# ---------------------------------------------------------------- Python
# suite PYTHON WHAT - run the tests of the package, with pytest if this Python has it.
suite() {
  (
    cd "$work/packaging/python/tests" || exit
    if "$1" -c 'import pytest' 2> /dev/null; then
      "$1" -m pytest -q -p no:cacheprovider .
    else
      "$1" -m unittest discover
    fi
  ) > "$work/log" 2>&1 < /dev/null && echo "ok: $2" && return
  cat "$work/log"
  fail "$2"
}

# make_wheel PYTHON - build a wheel without a network, as README.md says.
make_wheel() {
  find "$work/packaging" | sort > "$work/before"
  passes "pip wheel, by $("$1" --version)" "$1" -m pip wheel --no-index --no-build-isolation --no-deps \
    --disable-pip-version-check -w "$work/wheel" "$work/packaging/python" || return
  find "$work/packaging" | sort > "$work/after"
  passes "the build leaves nothing in the checkout" diff "$work/before" "$work/after"
}

# use_python PYTHON - test the package in the directory, and the wheel in a new virtual environment.
use_python() {
  python_is=$("$1" --version)
  ran=$((ran + 1))
  PYTHONPATH=$work/packaging/python
  suite "$1" "$python_is"
  if at_least 3.10 "$1" --version && "$1" -c 'import test.test_asyncio.test_locks' 2> /dev/null; then
    own=yes     # test_aio_own.py has run them
  fi
  # Make the table of README.md, from short runs.
  passes "$python_is: compare.py" "$1" "$work/packaging/python/compare.py" 0.02
  PYTHONPATH=
  if ! "$1" -c 'import ensurepip' 2> /dev/null; then
    not_tried "the wheel: $1 has no ensurepip, for virtual environments"
  elif [ -d "$work/wheel" ]; then
    rm -rf "$work/venv"
    passes "$python_is: a virtual environment" "$1" -m venv "$work/venv" &&
      passes "$python_is: the wheel" "$work/venv/bin/pip" install --no-index --disable-pip-version-check \
        "$work"/wheel/fairsem-*.whl && suite "$work/venv/bin/python" "$python_is, with the wheel"
  fi
}

PYTHONDONTWRITEBYTECODE=1
PYTHONPATH=
FAIRSEM_CFLAGS=-I$(cd "$top_srcdir/include" && pwd)
export PYTHONPATH PYTHONDONTWRITEBYTECODE FAIRSEM_CFLAGS

builder=
for python in /usr/bin/python3 python3; do
  [ -n "$builder" ] || ! "$python" -c 'import setuptools, pip, wheel' 2> /dev/null || builder=$python
done
if [ -n "$builder" ]; then
  make_wheel "$builder"
else
  not_tried "the wheel: no python3 has pip, setuptools and wheel"
fi

if has mypy; then
  passes mypy mypy --strict --cache-dir="$work/mypy" "$work/packaging/python/fairsem" "$work/packaging/python/tests"
else
  not_tried "annotations: there is no mypy"
fi

last='' own=''
for python in /usr/bin/python3 python3; do
  if has "$python" && at_least 3.8 "$python" --version && [ "$("$python" --version)" != "$last" ]; then
    last=$("$python" --version)
    use_python "$python"
  fi
done
[ -n "$own" ] || not_tried "asyncio's own cases: no Python 3.10 or later has its tests"
[ "$ran" -gt 0 ] || not_tried "Python: there is no python3, version 3.8 or later"

# ---------------------------------------------------------------- Go's race detector
# Go's race detector defines ThreadSanitizer's names, too, but a thread that Go does not know must not call
# them.
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
# called GO STATUS WHAT - build the program with -DGO=GO, and check its exit status.
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
