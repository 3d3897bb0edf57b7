#!/bin/sh
# SPDX-License-Identifier: MIT
# check_flags.sh - make check with the compiler flags of distributions; called by make check-flags.
#
#   make check-flags
#   make check-flags FLAGS="debian13 lto" ONLY=tests/preload/test_interpose.py
#
# Such flags change what the C library's headers declare, what is in the objects, and how they are
# linked.  A set with a flag that this compiler does not know is skipped.
set -u
export LC_ALL=C

: "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}" "${top_builddir:=$PWD}"
# AM_TESTS_ENVIRONMENT exports CFLAGS and CC: configure must not take them from there.
unset MAKEFLAGS MFLAGS MAKELEVEL DESTDIR CFLAGS CXXFLAGS CPPFLAGS LDFLAGS
jobs=$(getconf _NPROCESSORS_ONLN 2> /dev/null || echo 2)
work=$(mktemp -d "$top_builddir/check-flags.XXXXXX") || exit 99
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
status=0 skipped=0

# For each set what the distribution's own tool prints: dpkg-buildflags with hardening=+all, or
# rpm --eval %{build_cflags}.  Not here: -ffile-prefix-map; and -specs= of Fedora, which add -fPIE,
# -pie and -z now: the first two are the default of other compilers, the third is below.
table() {
  cat << '_EOF'
debian12 CPPFLAGS -Wdate-time -D_FORTIFY_SOURCE=2
debian12 CFLAGS -g -O2 -fstack-protector-strong -Wformat -Werror=format-security
debian12 LDFLAGS -Wl,-z,relro -Wl,-z,now
debian13 CPPFLAGS -Wdate-time -D_FORTIFY_SOURCE=2
debian13 CFLAGS -g -O2 -Werror=implicit-function-declaration -fstack-protector-strong
debian13 CFLAGS -fstack-clash-protection -Wformat -Werror=format-security -fcf-protection
debian13 LDFLAGS -Wl,-z,relro -Wl,-z,now
ubuntu24 CPPFLAGS -Wdate-time -D_FORTIFY_SOURCE=3
ubuntu24 CFLAGS -g -O2 -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer -flto=auto
ubuntu24 CFLAGS -ffat-lto-objects -fstack-protector-strong -fstack-clash-protection -Wformat
ubuntu24 CFLAGS -Werror=format-security -fcf-protection
ubuntu24 LDFLAGS -Wl,-Bsymbolic-functions -flto=auto -ffat-lto-objects -Wl,-z,relro -Wl,-z,now
fedora CFLAGS -O2 -flto=auto -ffat-lto-objects -fexceptions -g -pipe -Wall
fedora CFLAGS -Werror=format-security -Wp,-U_FORTIFY_SOURCE,-D_FORTIFY_SOURCE=3
fedora CFLAGS -Wp,-D_GLIBCXX_ASSERTIONS -fstack-protector-strong -m64 -march=x86-64
fedora CFLAGS -fasynchronous-unwind-tables -fstack-clash-protection -fcf-protection
fedora CFLAGS -fno-omit-frame-pointer
fedora LDFLAGS -Wl,-z,relro -Wl,--as-needed -Wl,-z,now
lto CFLAGS -g -O2 -flto
_EOF
}

# flags SET VARIABLE
flags() {
  table | sed -n "s/^$1 $2 //p" | tr '\n' ' '
}

# try SET - in a directory of its own.  C++ gets the flags of C, as in the distributions.
try() {
  cflags=$(flags "$1" CFLAGS) cppflags=$(flags "$1" CPPFLAGS) ldflags=$(flags "$1" LDFLAGS)
  echo 'int main(void) { return 0; }' > "$work/probe.c"
  # shellcheck disable=SC2086 # lists
  if ! ${CC:-cc} $cppflags $cflags "$work/probe.c" $ldflags -o "$work/probe" \
    > "$work/log" 2>&1; then
    cat "$work/log"
    echo "skipped: $1: the compiler does not know these flags"
    skipped=$((skipped + 1))
    return
  fi
  began=$(date +%s)
  mkdir "$work/$1" && cd "$work/$1" || exit 99
  if ! { "$top_srcdir/configure" --enable-werror --enable-tests CPPFLAGS="$cppflags" \
    CFLAGS="$cflags" CXXFLAGS="$cflags" LDFLAGS="$ldflags" && "$make" -j"$jobs"; } > log 2>&1; then
    tail -n 30 log
    echo "FAILED: $1: does not build"
    status=1
    return
  fi
  if command -v objcopy > /dev/null 2>&1 && ! grep -q '^have_local_names = yes' Makefile; then
    echo "FAILED: $1: libfairsem.a shows names that are not public"
    status=1
  fi
  "$make" -j"$jobs" check ${ONLY:+TESTS="$ONLY"} > log 2>&1
  result=$?
  "$top_srcdir/quickstart" tally "$work/$1" > "$work/tally" || result=1
  if [ "$result" -ne 0 ]; then
    grep -E 'error:|undefined|\*\*\*' log
    cat "$work/tally"
    echo "FAILED: $1"
    status=1
  else
    echo "ok: $1: $(tail -n 1 "$work/tally"), $(($(date +%s) - began)) s"
  fi
  cd "$work" && rm -rf "${work:?}/$1"
}

make=${MAKE:-make}
sets=$(table | cut -d ' ' -f 1 | uniq | tr '\n' ' ')
: "${FLAGS:=$sets}"
for set in $FLAGS; do
  case " $sets" in
    *" $set "*) try "$set" ;;
    *) echo "there are no flags $set, but $sets" >&2 && exit 2 ;;
  esac
done
[ "$status" -eq 0 ] || { echo "make check fails with flags of a distribution, see above"; exit 1; }
[ "$skipped" -eq 0 ] || { echo "$skipped sets of flags skipped"; exit 77; }
echo "make check with the flags of $FLAGS"
