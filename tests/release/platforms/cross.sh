#!/bin/sh
# SPDX-License-Identifier: MIT
# cross.sh TARGET [TEST...] - builds everything for another machine, and runs `make check` there.
#
# Foreign programs run under qemu-user.  The kernel starts qemu for them (binfmt_misc), in a
# namespace that this script creates: nothing outside of it changes.  The target's compiler and
# tools come first in the path, so that scripts find them under their usual names.  Check is not
# needed for the target: tests/support/plain replaces it.
#
# The last line is "N passed, M failed, K skipped".  Exit status 77: the target cannot be tried
# here.  The build stays in ports/TARGET in the build directory.
set -u
export LC_ALL=C

: "${top_srcdir:=$(dirname "$0")/../../..}" "${top_builddir:=$PWD}"
top_srcdir=$(cd "$top_srcdir" && pwd) || exit 99     # it is used in other directories

usage() {
  cat <<'_USAGE'
usage: cross.sh TARGET [TEST...]    TEST as in `make check TESTS=...`; `none` only builds
       cross.sh --packages TARGET   print the Debian packages that it needs
targets, emulated: arm64 riscv64 s390x armhf armhf-time64
         on x86-64: amd64 amd64-clang amd64-musl i386 i386-time64
_USAGE
  exit 2
}

# ---------------------------------------------------------------- targets
# choose TARGET - set cc, cxx, packages; triplet if it has tools of its
# own; qemu and elf, too, if it is emulated.
choose() {
  triplet='' qemu='' elf='' runtime=''
  case $1 in
    arm64) triplet=aarch64-linux-gnu qemu=qemu-aarch64-static elf='2 1 b7' libc=arm64 ;;
    riscv64) triplet=riscv64-linux-gnu qemu=qemu-riscv64-static elf='2 1 f3' libc=riscv64 ;;
    s390x) triplet=s390x-linux-gnu qemu=qemu-s390x-static elf='2 2 16' libc=s390x ;;
    armhf*) triplet=arm-linux-gnueabihf qemu=qemu-arm-static elf='1 1 28' libc=armhf ;;
    i386 | i386-time64)
      # Debian has gcc-multilib or the cross compilers, not both.  What either makes runs as it is.
      cc='gcc -m32' cxx='g++ -m32' packages='gcc-multilib g++-multilib'
      if command -v i686-linux-gnu-gcc > /dev/null; then
        triplet=i686-linux-gnu libc=i386 runtime='libc6-i386 lib32stdc++6'
      fi
      ;;
    amd64*) cc=gcc cxx=g++ packages='gcc g++' ;;
    *) usage ;;
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
}

skip() {
  echo "skipped: $target: $*"
  echo "0 passed, 0 failed, 1 skipped"
  exit 77
}

# ---------------------------------------------------------------- emulation
# magic CLASS DATA MACHINE - print the ELF magic of the target's programs, and its mask.
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

# Run this script again in a namespace where the kernel runs programs of the target.  The emulator
# must be static: LD_PRELOAD is for the program, not for the emulator.  The namespace has its own
# /dev/shm: to a machine of the other byte order, segments of this machine look damaged.
enter() {
  command -v "$qemu" > /dev/null || skip "there is no $qemu (package qemu-user-static)"
  if ! unshare --user --map-root-user --mount sh -c \
    'mount -t binfmt_misc binfmt_misc /proc/sys/fs/binfmt_misc' 2> /dev/null; then
    skip "binfmt_misc cannot be mounted in a user namespace (Linux 6.7 or later)"
  fi
  # Whether the byte order differs from ours: see tests/support/emulated.h.
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

# stand_in NAME COMMAND... - put a script NAME in front that runs this command.
stand_in() {
  name=$1 real=$(command -v "$2") || real=false
  shift 2
  printf '#!/bin/sh\nexec %s "$@"\n' "$real $*" > "$work/bin/$name" &&
    chmod +x "$work/bin/$name" || exit 99
}

# Put the tools of the target first in the path, under the names that tests use.
put_tools_first() {
  mkdir "$work/bin" || exit 99
  if [ -n "$triplet" ]; then
    for tool in ar as ld nm objcopy objdump ranlib readelf strip; do
      stand_in "$tool" "$triplet-$tool"
    done
  fi
  # shellcheck disable=SC2086 # lists
  case $target in
    amd64 | amd64-clang) ;;
    *)
      # clang has no runtime for other machines here: tests that need one are skipped.
      stand_in clang clang --target="${triplet:-none}"
      for name in cc gcc; do stand_in "$name" $cc; done
      for name in c++ g++; do stand_in "$name" $cxx; done
      ;;
  esac
  PATH=$work/bin:$PATH
  # pkg-config knows only libraries of this machine.
  PKG_CONFIG_LIBDIR=$work
  export PATH PKG_CONFIG_LIBDIR
}

# Print the tests that programs have skipped, and count as passed.
tell_skips() {
  for log in "$work"/build/tests/*/*.log "$work"/build/tests/*/*/*.log; do
    if [ -x "${log%.log}" ] && grep -q '^:test-result: PASS' "${log%.log}.trs"; then
      sort -u "$log" | sed -n "s/^\(skipped\|not here\): /-- $(basename "$log" .log): /p"
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
mkdir -p "$work/build" && work=$(cd "$work" && pwd) || exit 99
put_tools_first
echo 'int main(void) { return 0; }' > "$work/probe.c"
# shellcheck disable=SC2086 # a list
if ! { $cc "$work/probe.c" -o "$work/probe" && "$work/probe"; } > "$work/log" 2>&1; then
  skip "programs of $cc do not build or do not run (packages $packages)"
fi

if [ ! -x "$top_srcdir/configure" ]; then
  (cd "$top_srcdir" && autoreconf -i) > "$work/log" 2>&1 || exit 99
fi
cd "$work/build" || exit 99
# Emulated machines are slow.
: "${CK_TIMEOUT_MULTIPLIER:=10}"
export CK_TIMEOUT_MULTIPLIER
unset MAKEFLAGS MFLAGS MAKELEVEL
jobs=$(getconf _NPROCESSORS_ONLN)
if ! { "$top_srcdir/configure" ${triplet:+--host="$triplet"} \
  --enable-werror --enable-tests CC="$cc" CXX="$cxx" CHECK_LIBS=-pthread \
  CHECK_CFLAGS="-I$top_srcdir/tests/support/plain" &&
  make -j"$jobs" && make -j"$jobs" check TESTS=; } > "$work/log" 2>&1; then
  tail -n 40 "$work/log"
  echo "0 passed, 1 failed"
  exit 1
fi
if [ "${1-}" = none ]; then
  echo "ok: $target, everything is built"
  echo "1 passed, 0 failed"
  exit
fi
make -j"$jobs" check ${1:+TESTS="$*"} > "$work/log" 2>&1
"$top_srcdir/quickstart" tally "$work/build" > "$work/tally"
result=$?
sed '$d' "$work/tally"
tell_skips | tee "$work/skips"
tail -n 1 "$work/tally" | awk -v more="$(wc -l < "$work/skips")" '{
  printf "%d passed, %d failed, %d skipped\n", $1 - more, $3, $5 + more
}'
exit "$result"
