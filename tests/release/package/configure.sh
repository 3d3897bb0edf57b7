#!/bin/sh
# SPDX-License-Identifier: MIT
# configure.sh - check that configure leaves out a library that it finds but cannot use, and that it stops with
# a reason if an option demands such a library, or if the prefix is unusable.
set -u

: "${top_srcdir:=$(cd "$(dirname "$0")/../../.." && pwd)}" "${top_builddir:=$PWD}"
. "$top_srcdir/tests/support/script.sh"
mkdir -p "$work/build" "$work/include/curl" || exit 99

# With the cached results of this build's configure, each run takes a second.
# Results of pkg-config must be new.
sed -n '/^[a-z]*_cv_/p' "$top_builddir/config.log" |
  grep -v -e _cv_env_ -e pkg_cv_ -e PKG_CONFIG > "$work/cache"

# A pkg-config that knows every library: the flag for the linker is $LIBRARY.
cat > "$work/pkg-config" << _EOF
#!/bin/sh
case \$* in
  *--cflags*) echo '-I$work/include' ;;
  *--libs*) echo "\$LIBRARY" ;;
esac
_EOF
chmod +x "$work/pkg-config"
echo 'int suite_create(const char *name);' > "$work/include/check.h"
echo 'int curl_easy_init(void);' > "$work/include/curl/curl.h"
echo 'int json_object(void);' > "$work/include/jansson.h"
echo 'int suite_create(const char *name) { return name == 0; }
int curl_easy_init(void) { return 0; }
int json_object(void) { return 0; }' > "$work/all.c"

# configure ARGUMENT... - run configure; its output goes to $work/out.
configure() {
  cp "$work/cache" "$work/build/config.cache"
  (cd "$work/build" && "$top_srcdir/configure" -C --no-create CC="$CC" CFLAGS="$CFLAGS" \
    PKG_CONFIG="$work/pkg-config" "$@") > "$work/out" 2>&1 < /dev/null
}

# finds CLUSTER TESTS - check that the summary has these words, `yes` or `no`, for the cluster and for the tests.
finds() {
  if ! configure; then
    fail "configure, with $LIBRARY"
  elif ! grep -q "^  between machines  *$1 " "$work/out" || ! grep -q "^  tests (Check)  *$2\$" "$work/out"; then
    fail "with $LIBRARY, the cluster: not $1, or the tests: not $2"
  else
    echo "ok: with ${LIBRARY##*/}, the cluster: $1, the tests: $2"
  fi
}

# refuses ARGUMENT WHY - check that configure stops and prints WHY.
refuses() {
  if configure "$1"; then
    fail "configure $1"
  elif grep -q "^configure: error: .*$2" "$work/out"; then
    echo "ok: configure ${1%%=*}: $2"
  else
    fail "configure $1 does not say: $2"
  fi
}

# shellcheck disable=SC2086 # a compiler, and options
$CC $CFLAGS -c "$work/all.c" -o "$work/all.o" || exit 99
export LIBRARY="$work/all.o"
if [ "$(uname)" = Linux ]; then
  finds yes yes
else
  not_here "the cluster needs Linux"
  finds no yes
fi
LIBRARY=-lfairsem_no_such_library
finds no no
refuses --with-cluster 'a program with curl does not link'
refuses --enable-tests 'a program with check does not link'
# libtool cannot install into a path with a space.
refuses --prefix="$work/a b" 'there is a space in the name'
exit "$status"
