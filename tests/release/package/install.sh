#!/bin/sh
# SPDX-License-Identifier: MIT
# install.sh - check that programs build and run with the installed files, and that make uninstall removes them
# all.
set -u

: "${top_srcdir:=$(cd "$(dirname "$0")/../../.." && pwd)}" "${top_builddir:=$PWD}"
. "$top_srcdir/tests/support/script.sh"
needs pkg-config
root=$work/root

# make_quietly GOAL - run make in the build tree, with $root as DESTDIR.
make_quietly() {
  "$MAKE" -C "$top_builddir" "$1" DESTDIR="$root" > "$work/log" 2>&1 && return
  cat "$work/log"
  fail "make $1"
}

# build_and_run WHAT COMMAND... - run the command, which builds $work/prog.  The program must exit with 0.
build_and_run() {
  what=$1
  shift
  rm -f "$work/prog"
  if ! "$@" > "$work/log" 2>&1; then
    cat "$work/log"
    fail "$what does not build: $*"
  elif ! LD_LIBRARY_PATH=$libdir "$work/prog"; then
    fail "$what fails"
  else
    echo "ok: $what"
  fi
}

make_quietly install
pc=$(find "$root" -name fairsem.pc)
if [ -z "$pc" ]; then
  fail "no fairsem.pc was installed"
  exit "$status"
fi
libdir=$(dirname "$(dirname "$pc")")

# pkg-config must print flags even for system directories: below $root, the compiler does not search them by itself.
PKG_CONFIG_LIBDIR=$libdir/pkgconfig PKG_CONFIG_PATH='' PKG_CONFIG_SYSROOT_DIR=$root
PKG_CONFIG_ALLOW_SYSTEM_CFLAGS=1 PKG_CONFIG_ALLOW_SYSTEM_LIBS=1
export PKG_CONFIG_LIBDIR PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR
export PKG_CONFIG_ALLOW_SYSTEM_CFLAGS PKG_CONFIG_ALLOW_SYSTEM_LIBS
version=$(sed -n 's/^#define FAIRSEM_VERSION_STRING "\(.*\)"/\1/p' "$top_srcdir/include/fairsem.h")
[ "$(pkg-config --modversion fairsem)" = "$version" ] ||
  fail "pkg-config says version $(pkg-config --modversion fairsem), the header says $version"

cat > "$work/prog.c" <<'_EOF'
#include <fairsem.h>

static fairsem_t slots = FAIRSEM_INITIALIZER(0);

static void *give(void *arg)
{
    (void)arg;
    fairsem_release(&slots, 2);
    return arg;
}

int main(void)
{
    pthread_t thread;

    if (pthread_create(&thread, 0, give, 0) != 0)
        return 1;
    if (fairsem_acquire(&slots, 2) != 0 || fairsem_available(&slots) != 0)
        return 2;
    return pthread_join(thread, 0) == 0 ? 0 : 3;
}
_EOF
cp "$work/prog.c" "$work/prog.cc"

has_shared='' has_static=$(made old_library)
case $(made library_names) in *libfairsem.so*) has_shared=libfairsem.so ;; esac
for file in $has_shared $has_static; do
  [ -e "$libdir/$file" ] || fail "$file was not installed"
done

# The message of a usage error names the place of the call.
if [ -n "$has_shared" ]; then
  echo '#include <fairsem.h>
static fairsem_t zeroed;
int main(void) { return fairsem_acquire_for(&zeroed, 1, 0) + 1; }' > "$work/misuse.c"
  # shellcheck disable=SC2046,SC2086
  $CC ${CFLAGS-} "$work/misuse.c" -o "$work/misuse" $(pkg-config --cflags --libs fairsem) ||
    fail "the program with a mistake does not build"
  (LD_LIBRARY_PATH=$libdir "$work/misuse") > "$work/log" 2>&1
  grep -Eq '^fairsem: 0x[0-9a-f]+: a semaphore is used without .* \(called by .*misuse\+0x[0-9a-f]+\)$' \
    "$work/log" || { cat "$work/log"; fail "the message does not name the address and the caller"; }
fi

# try LANGUAGE COMPILER SOURCE - build and run a program with the shared and with the static library, if they exist.
# shellcheck disable=SC2046,SC2086 # compiler, flags and pkg-config's answer are lists
try() {
  if [ -n "$has_shared" ]; then
    build_and_run "$1, shared" $2 ${CFLAGS-} "$3" -o "$work/prog" \
      $(pkg-config --cflags --libs fairsem)
  fi
  [ -n "$has_static" ] || return 0
  # If there is no static C library, or with a sanitizer, only our library is static.
  if echo 'int main(void) { return 0; }' > "$work/try.c" &&
    $CC ${CFLAGS-} -static "$work/try.c" -o "$work/try" > /dev/null 2>&1; then
    build_and_run "$1, static" $2 ${CFLAGS-} -static "$3" -o "$work/prog" \
      $(pkg-config --static --cflags --libs fairsem)
  else
    build_and_run "$1, archive of fairsem" $2 ${CFLAGS-} "$3" -o "$work/prog" \
      $(pkg-config --cflags fairsem) "$libdir/$has_static" -pthread
  fi
}

try C "$CC" "$work/prog.c"
if has "$CXX"; then
  try C++ "$CXX" "$work/prog.cc"
else
  not_tried "C++: there is no compiler"
fi

# For libfairsem-cluster, pkg-config must find packages of the system, too.
cat > "$work/cluster.c" << '_EOF'
#include <fairsem/cluster.h>
#include <errno.h>

int main(void)
{
    const fairsem_cluster_attr_t attr = { .endpoints = "http://127.0.0.1:1", .limit = 1 };
    fairsem_cluster_hold_t hold = { { 0 } };
    fairsem_cluster_t *handle;

    return fairsem_cluster_open(&handle, "name", &attr) != 0
        || fairsem_cluster_acquire_with(handle, 2, NULL, &hold) != E2BIG
        || fairsem_cluster_close(handle) != 0;
}
_EOF
if ! configure_says have_cluster yes; then
  not_tried "libfairsem-cluster, which was not built"
elif [ -n "$has_shared" ]; then
  system=$(env -u PKG_CONFIG_LIBDIR pkg-config --variable pc_path pkg-config)
  # shellcheck disable=SC2046,SC2086 # lists
  build_and_run "libfairsem-cluster, shared" $CC ${CFLAGS-} "$work/cluster.c" -o "$work/prog" \
    $(PKG_CONFIG_PATH=$system pkg-config --cflags --libs fairsem-cluster)
fi

# Build the examples outside of this tree, with nothing of this build but CFLAGS.
if ! "$MAKE" --version 2> /dev/null | grep -q GNU; then
  not_tried "the examples: $MAKE is not GNU make"
elif [ -n "$has_shared" ]; then
  mkdir "$work/examples" &&
    cp "$top_srcdir"/examples/*.[ch] "$top_srcdir/examples/Makefile.example" "$work/examples" ||
    exit 99
  # compress-tree needs zlib.
  programs="worker-pool consumer-priority budget-pool fetch-limiter start-once start-rate tenants"
  [ ! -x "$top_builddir/examples/compress-tree" ] || programs="$programs compress-tree"
  [ ! -x "$top_builddir/examples/event-loop" ] || programs="$programs event-loop"
  # shellcheck disable=SC2086 # a list of programs
  if "$MAKE" -C "$work/examples" -f Makefile.example CC="$CC" CFLAGS="${CFLAGS-}" \
    $programs > "$work/log" 2>&1 &&
    LD_LIBRARY_PATH=$libdir "$work/examples/worker-pool" > "$work/log" 2>&1; then
    echo "ok: the examples with Makefile.example: $programs"
  else
    cat "$work/log"
    fail "the examples with Makefile.example"
  fi
fi

# ---------------------------------------------------------------- the manual
# Use a copy of the pages, because the tools write their index beside them.
pages=$(find "$root" -name fairsem_acquire.3)
if [ -z "$pages" ]; then
  fail "fairsem_acquire.3 was not installed"
else
  cp -R "$(dirname "$(dirname "$pages")")" "$work/man"
fi
MANPATH=$work/man
export MANPATH
# On a system without manuals, `man` succeeds for any name.
has_man=
if has man && ! man -w no_such_page > /dev/null 2>&1; then
  has_man=yes
else
  not_tried "man: it is missing, or finds any page"
fi
if [ -n "$has_man" ]; then
  for name in fairsem_acquire fairsem_destroy fairsem_shared_unlink fairsem; do
    man -w "$name" > "$work/log" 2>&1
    grep -q "^$work/man/man" "$work/log" || { fail "man -w $name" && cat "$work/log"; }
  done
  man fairsem_destroy 2> /dev/null | grep -q 'FAIRSEM_INIT(3)' || fail "man fairsem_destroy"
  echo "ok: man"
fi
index=
if has mandb; then
  index="mandb -q"
elif has makewhatis; then
  index=makewhatis
fi
if [ -z "$index" ] || ! has apropos; then
  not_tried "apropos: it is missing, or what makes its index"
else
  if $index "$work/man" > "$work/log" 2>&1; then
    apropos -M "$work/man" fairsem > "$work/log" 2>&1
    for name in fairsem_acquire fairsem_destroy fairsem_shared_unlink fairsem; do
      grep -q "^${name}[ (,]" "$work/log" ||
        { fail "apropos does not find $name" && cat "$work/log"; }
    done
    echo "ok: apropos"
  elif grep -q "can't chown" "$work/log"; then
    not_here "apropos, because mandb cannot chown its index in this namespace"
  else
    fail "$index" && cat "$work/log"
  fi
fi

# ---------------------------------------------------------------- the private prefix of quickstart
# With quickstart's settings, all files below a private prefix are found.  The prefix of this test is a copy,
# because gdb looks for its script below the path of the library.
prefix=$(sed -n 's/^prefix=//p' "$pc") private=$work/private
cp -R "$root$prefix" "$private" || exit 99
private_libdir=$private${libdir#"$root$prefix"}
eval "$(sed -n '/^settings() {/,/^}/p' "$top_srcdir/quickstart")"
settings "$private" "$private_libdir" > "$work/settings"
sed -n '/^    export /p' "$work/settings" > "$work/profile"
sed -n '/^    add-auto-load-/p' "$work/settings" > "$work/gdbinit"
# found WHAT EXPECTED - check that a command prints EXPECTED in a shell that has read the profile.
found() {
  what=$1 expected=$2
  shift 2
  said=$(unset PKG_CONFIG_LIBDIR PKG_CONFIG_SYSROOT_DIR && PKG_CONFIG_PATH='' MANPATH='' &&
    . "$work/profile" && "$@" 2>&1)
  case $said in
    *"$expected"*) echo "ok: quickstart's settings: $what" ;;
    *) fail "quickstart's settings: $what: $said" ;;
  esac
}
[ ! -x "$private/bin/fairsem-limit" ] || found PATH "$private/bin/" command -v fairsem-limit
found PKG_CONFIG_PATH "$private_libdir/pkgconfig" pkg-config --variable=pcfiledir fairsem
if [ -n "$has_man" ]; then
  found MANPATH "$private/share/man/" man -w fairsem_acquire
fi
if [ -n "$has_shared" ]; then
  if has python3; then
    found Python 'it works' env PYTHONPATH="$top_srcdir/packaging/python" \
      python3 -B -c 'import fairsem; print("it works")'
  else
    not_tried "quickstart's settings: there is no python3"
  fi
  if has gdb && gdb -nx -batch -ex 'python print(6 * 7)' 2>&1 | grep -q '^42$'; then
    there=$(find "$private" -name '*-gdb.py')
    mkdir -p "$private/share/gdb/auto-load$private_libdir" &&
      mv "$there" "$private/share/gdb/auto-load$private_libdir" || exit 99
    found gdb 'The program is not running' gdb -nx -batch -x "$work/gdbinit" \
      -ex "file $private_libdir/$(basename "$there" -gdb.py)" -ex 'info fairsem'
  else
    not_tried "quickstart's settings: there is no gdb that knows Python"
  fi
fi
[ "$(settings /usr /usr/lib)" = "" ] || fail "quickstart: settings for /usr"
case $(settings /usr/local /usr/local/lib) in
  *export*) fail "quickstart: needless settings for /usr/local" ;;
  *'add-auto-load-safe-path /usr/local/'*) ;;
  *) fail "quickstart: gdb needs settings for /usr/local" ;;
esac

# ---------------------------------------------------------------- how much quickstart does at a time
eval "$(sed -n '/^quota() {/,/^}/p' "$top_srcdir/quickstart")"
# cores EXPECTED WHAT CGROUPS [FILE TEXT]... - check the cores of a process in these cgroups with these files.
cores() {
  expected=$1 what=$2
  rm -rf "$work/cgroup" && mkdir "$work/cgroup" && echo "$3" > "$work/cgroups" || exit 99
  shift 3
  while [ $# -gt 0 ]; do
    mkdir -p "$work/cgroup/$(dirname "$1")" && echo "$2" > "$work/cgroup/$1" || exit 99
    shift 2
  done
  said=$(quota "$work/cgroup" "$work/cgroups")
  if [ "$said" = "$expected" ]; then
    echo "ok: quickstart's cores: $what"
  else
    fail "quickstart's cores: $what: $said"
  fi
}
cores '' "no quota" 0::/a a/cpu.max 'max 100000' cpu/cpu.cfs_quota_us -1 cpu/cpu.cfs_period_us 100000
cores 2 "one and a half, of a container" 0::/ cpu.max '150000 100000'
cores 3 "that of the parent is smaller" 0::/a/b a/b/cpu.max '800000 100000' a/cpu.max '300000 100000'
cores 1 "version 1" 4:cpu,cpuacct:/a cpu,cpuacct/a/cpu.cfs_quota_us 50000 \
  cpu,cpuacct/a/cpu.cfs_period_us 100000

make_quietly uninstall
# Nothing may be left, not even a dangling link, which make distcheck would not see.
find "$root" ! -type d > "$work/left"
if [ -s "$work/left" ]; then
  fail "make uninstall left behind:"
  cat "$work/left"
else
  echo "ok: uninstall leaves nothing"
fi
exit "$status"
