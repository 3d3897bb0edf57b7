#!/bin/sh
# SPDX-License-Identifier: MIT
# target.sh TARGET [TEST...] - builds everything for another machine, another C library, or with other
# flags, and runs `make check` there.
#
# Foreign programs run under qemu-user.  The kernel starts qemu for them (binfmt_misc), in a
# namespace that this script creates: nothing outside of the namespace changes.  The target's compiler
# and tools come first in the path, so that scripts find them under their usual names.  The target needs
# no Check: tests/support/plain replaces it.
#
# The last line is "N passed, M failed, K skipped".  The exit status is 77 if this machine cannot try the
# target.  The build stays in ports/TARGET of the build directory.
set -u
export LC_ALL=C

: "${top_srcdir:=$(dirname "$0")/../../..}" "${top_builddir:=$PWD}"
top_srcdir=$(cd "$top_srcdir" && pwd) || exit 99     # it is used in other directories
. "$top_srcdir/tests/support/configured.sh"

usage() {
  cat <<'_USAGE'
usage: target.sh TARGET [TEST...]        TEST as in `make check TESTS=...`
       target.sh TARGET only TEST...     builds no other tests
       target.sh TARGET programs TEST... all that are in C, and these scripts
       target.sh --packages TARGET       print the Debian packages that it needs
targets, emulated: arm64 riscv64 s390x armhf armhf-time64
         on x86-64: amd64 amd64-clang amd64-musl i386 i386-time64
         as on macOS, where condition variables have one clock: amd64-one-clock
         with the flags of distributions: debian12 debian13 ubuntu24 fedora lto
_USAGE
  exit 2
}

# ---------------------------------------------------------------- targets
# The flags of a distribution are those that its own tool prints: dpkg-buildflags with hardening=+all, or
# rpm --eval %{build_cflags}.  -ffile-prefix-map is left out, and so are Fedora's -specs=, which add -fPIE,
# -pie and -z now.  -fPIE and -pie are the default of other compilers; -z now is in the table.
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

# flags VARIABLE TARGET - print the target's value of the variable in the table.
flags() {
  table | sed -n "s/^$2 $1 //p" | tr '\n' ' '
}

# choose TARGET - set cc, cxx, cppflags, cflags, ldflags, packages, and arguments for configure in `more`.  Set
# triplet if the target has tools of its own, and qemu and elf if the target is emulated.
choose() {
  triplet='' qemu='' elf='' runtime='' more='' cc=gcc cxx=g++ packages='gcc g++'
  cppflags=$(flags CPPFLAGS "$1") cflags=$(flags CFLAGS "$1") ldflags=$(flags LDFLAGS "$1")
  case $1 in
    arm64) triplet=aarch64-linux-gnu qemu=qemu-aarch64-static elf='2 1 b7' libc=arm64 ;;
    riscv64) triplet=riscv64-linux-gnu qemu=qemu-riscv64-static elf='2 1 f3' libc=riscv64 ;;
    s390x) triplet=s390x-linux-gnu qemu=qemu-s390x-static elf='2 2 16' libc=s390x ;;
    armhf*) triplet=arm-linux-gnueabihf qemu=qemu-arm-static elf='1 1 28' libc=armhf ;;
    i386 | i386-time64)
      # On Debian, gcc-multilib and the cross compilers exclude each other.  gcc-VERSION-multilib can stand
      # beside them, but has no <asm/errno.h>: take the one for 64 bits.
      # Programs of all these compilers run without qemu.
      kernel="-idirafter /usr/include/$(gcc -print-multiarch)"
      cc="gcc -m32 $kernel" cxx="g++ -m32 $kernel" packages='gcc-multilib g++-multilib'
      if command -v i686-linux-gnu-gcc > /dev/null; then
        triplet=i686-linux-gnu libc=i386 runtime='libc6-i386 lib32stdc++6'
      fi
      ;;
    amd64-one-clock) more=ac_cv_func_pthread_condattr_setclock=no ;;
    amd64*) ;;
    *) [ -n "$cflags" ] || usage ;;
  esac
  case $1 in
    *-clang) cc=clang cxx=clang++ packages=clang ;;
    *-musl*) cc=musl-gcc cxx=false packages=musl-tools ;;
  esac
  if [ -n "$triplet" ]; then
    cc=$triplet-gcc cxx=$triplet-g++
    packages="${runtime:-qemu-user-static} gcc-$triplet g++-$triplet libc6-dev-$libc-cross"
  fi
  case $1 in
    *-time64)
      wide='-D_TIME_BITS=64 -D_FILE_OFFSET_BITS=64'
      cc="$cc $wide" cxx="$cxx $wide"
      ;;
  esac
  : "${cflags:=-g -O2}"
}

skip() {
  echo "skipped: $target: $*"
  [ "${FAIRSEM_TRY_ALL-}" != yes ] || { echo "0 passed, 1 failed" && exit 1; }
  echo "0 passed, 0 failed, 1 skipped"
  exit 77
}

# ---------------------------------------------------------------- emulation
# magic CLASS DATA MACHINE - print the ELF magic of the target's programs, and the mask of the magic.
magic() {
  zeros='\x00\x00\x00\x00\x00\x00\x00\x00'
  ones='\xff\xff\xff\xff\xff\xff\xff'
  if [ "$2" = 1 ]; then
    kind="\\x02\\x00\\x$3\\x00" mask='\xfe\xff\xff\xff'
  else
    kind="\\x00\\x02\\x00\\x$3" mask='\xff\xfe\xff\xff'
  fi
  printf '%s:%s' "\\x7fELF\\x0$1\\x0$2\\x01\\x00$zeros$kind" "$ones\\x00$ones\\xff$mask"
}

# enter - run this script again in a namespace in which the kernel runs programs of the target.  The emulator
# must be static, so that LD_PRELOAD applies to the program and not to the emulator.  The namespace has its own
# /dev/shm: a segment of this machine would look damaged to a machine of the other byte order.
enter() {
  command -v "$qemu" > /dev/null || skip "there is no $qemu (package qemu-user-static)"
  if ! unshare --user --map-root-user --mount sh -c \
    'mount -t binfmt_misc binfmt_misc /proc/sys/fs/binfmt_misc' 2> /dev/null; then
    skip "binfmt_misc cannot be mounted in a user namespace (Linux 6.7 or later)"
  fi
  # test_interpose.py skips a machine of the other byte order: see tests/support/emulated.h.
  case $elf in
    "2 2 "*) kind=other-order ;;
    *) kind=1 ;;
  esac
  # shellcheck disable=SC2086,SC2016 # a list; for the shell inside
  FAIRSEM_TESTS_EMULATED=$kind QEMU_LD_PREFIX=/usr/$triplet \
    FORMAT=":$triplet:M::$(magic $elf):$(command -v "$qemu"):" \
    exec unshare --user --map-root-user --mount sh -c '
      mount -t binfmt_misc binfmt_misc /proc/sys/fs/binfmt_misc &&
      printf "%s\n" "$FORMAT" > /proc/sys/fs/binfmt_misc/register &&
      mount -t tmpfs -o mode=1777 tmpfs /dev/shm &&
      export FAIRSEM_TESTS_EMULATED QEMU_LD_PREFIX &&
      exec "$@"' sh "$0" "$@"
}

# stand_in NAME COMMAND... - put a script NAME first in the path, which runs the command.
stand_in() {
  name=$1 real=$(command -v "$2") || real=false
  shift 2
  printf '#!/bin/sh\nexec %s "$@"\n' "$real $*" > "$work/bin/$name" &&
    chmod +x "$work/bin/$name" || exit 99
}

# put_tools_first - put the tools of the target first in the path, under the names that tests use.
put_tools_first() {
  case $cc in
    gcc | clang) return ;;
  esac
  mkdir "$work/bin" || exit 99
  if [ -n "$triplet" ]; then
    for tool in ar as ld nm objcopy objdump ranlib readelf strip; do
      stand_in "$tool" "$triplet-$tool"
    done
  fi
  # This machine has no runtime of clang for other machines, so tests that need a runtime are skipped.
  stand_in clang clang --target="${triplet:-none}"
  # shellcheck disable=SC2086 # lists
  {
    for name in cc gcc; do stand_in "$name" $cc; done
    for name in c++ g++; do stand_in "$name" $cxx; done
  }
  PATH=$work/bin:$PATH
  # pkg-config finds libraries of this machine, which do not link for the target: configure must notice that.
  export PATH
}

# tell_skips - print the tests that programs have skipped: make counts them as passed.
tell_skips() {
  for log in "$work"/build/tests/*/*.log "$work"/build/tests/*/*/*.log; do
    if [ -x "${log%.log}" ] && grep -q '^:test-result: PASS' "${log%.log}.trs"; then
      sort -u "$log" | sed -n "s/^\(skipped\|not here\): /-- $(basename "$log" .log): &/p"
    fi
  done
}

# ---------------------------------------------------------------- main
if [ "${1-}" = --packages ]; then
  [ $# -eq 2 ] || usage
  choose "$2"
  echo "$packages"
  exit
fi
[ $# -ge 1 ] || usage
target=$1
choose "$target"
command -v "${cc%% *}" > /dev/null || skip "there is no ${cc%% *} (packages $packages)"
[ -z "$qemu" ] || [ -n "${FAIRSEM_TESTS_EMULATED-}" ] || enter "$@"
shift

work=$top_builddir/ports/$target
rm -rf "$work"
mkdir -p "$work" && work=$(cd "$work" && pwd) || exit 99
put_tools_first
echo 'int main(void) { return 0; }' > "$work/probe.c"
# shellcheck disable=SC2086 # lists
if ! { $cc $cppflags $cflags "$work/probe.c" $ldflags -o "$work/probe" && "$work/probe"; } \
  > "$work/log" 2>&1; then
  skip "programs of $cc with the flags of $target do not build or do not run (packages $packages)"
fi

if [ ! -x "$top_srcdir/configure" ]; then
  (cd "$top_srcdir" && autoreconf -i) > "$work/log" 2>&1 || exit 99
fi
# Emulated machines are slow.
: "${CK_TIMEOUT_MULTIPLIER:=10}"
export CK_TIMEOUT_MULTIPLIER
case ${1-} in
  '') ;;
  programs) shift && set -- test_scripts="$*" ;;
  only)
    shift
    only=$(echo "$*" | sed 's/[^ ]*[.][^ ]*//g')
    set -- TESTS="$*"
    ;;
  *) set -- TESTS="$*" ;;
esac
# shellcheck disable=SC2086 # a word, or nothing
configured "$work/build" ${triplet:+--host="$triplet"} --enable-werror CC="$cc" CXX="$cxx" \
  CPPFLAGS="$cppflags" CFLAGS="$cflags" CXXFLAGS="$cflags" LDFLAGS="$ldflags" $more \
  CHECK_LIBS=-pthread CHECK_CFLAGS="-I$top_srcdir/tests/support/plain" || exit 1
if [ -n "$(flags CFLAGS "$target")" ] && ! grep -q '^have_local_names = yes' Makefile; then
  echo "FAILED: libfairsem.a shows names that are not public"
  echo "0 passed, 1 failed"
  exit 1
fi
checked "$@" > "$work/tally"
result=$?
sed '$d' "$work/tally"
tell_skips | tee "$work/skips"
tail -n 1 "$work/tally" | awk -v more="$(wc -l < "$work/skips")" '{
  printf "%d passed, %d failed, %d skipped\n", $1 - more, $3, $5 + more
}'
exit "$result"
