#!/bin/sh
# SPDX-License-Identifier: MIT
# docs.sh - the example in fairsem.hpp runs; the C++ in doc/cxx.md compiles.
set -u

: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${top_builddir:=$PWD}"
. "$top_srcdir/tests/support/script.sh"
library=$(library)
has "$CXX" || skip "no C++ compiler"

# build ARGUMENT... - as a reader would, and without a warning.
build() {
  # shellcheck disable=SC2086 # lists
  $CXX ${CFLAGS-} -Wall -Wextra -Wpedantic -Werror -I"$top_srcdir/include" "$@"
}

# ---------------------------------------------------------------- the example
awk '
  /^ \* Example:/ { inside = 1; next }
  inside && !/^ \*(     .*)?$/ { exit }
  inside { print substr($0, 8) }' "$top_srcdir/include/fairsem.hpp" > "$work/example.cc"
[ -s "$work/example.cc" ] || fail "fairsem.hpp has no example"
if ! build -std=c++17 "$work/example.cc" -o "$work/example" "$library" -pthread; then
  fail "the example in fairsem.hpp does not build"
elif ! LD_LIBRARY_PATH=$top_builddir/.libs "$work/example"; then
  fail "the example in fairsem.hpp fails"
else
  echo "ok: the example in fairsem.hpp"
fi

# ---------------------------------------------------------------- the page
# All blocks in one source, each in a namespace of its own.
page=doc/cxx.md
awk '
  /^```/ { inside = $0 == "```cpp"; if (inside) print "} namespace block" FNR " {"; next }
  inside && !/^#include/' "$top_srcdir/$page" > "$work/blocks"
[ -s "$work/blocks" ] || fail "$page has no C++"
{
  echo '#include <fairsem.hpp>'
  echo 'namespace first {'
  cat "$work/blocks"
  echo '}'
} > "$work/page.cc"
if ! printf '%s\n' '#include <version>' '#ifndef __cpp_lib_jthread' '#error no' '#endif' \
  '#ifndef __cpp_lib_coroutine' '#error no' '#endif' |
  $CXX -std=c++20 -x c++ -fsyntax-only - 2> /dev/null; then
  not_here "the C++ of $page, which is C++20"
elif build -std=c++20 -fsyntax-only "$work/page.cc"; then
  echo "ok: the C++ of $page, $(grep -c '^} namespace' "$work/blocks") blocks"
else
  fail "the C++ of $page"
fi
exit "$status"
