#!/bin/sh
# SPDX-License-Identifier: MIT
# consumers.sh - check that programs find the installed library, shared and static, with pkg-config, CMake and
# Meson, even after the library was moved to a directory with a space in its name.  And check that a compiler,
# CMake and Meson build the single file of make amalgamation as a part of a project.
set -u

: "${top_srcdir:=$(cd "$(dirname "$0")/../../.." && pwd)}" "${top_builddir:=$PWD}"
. "$top_srcdir/tests/support/script.sh"
ran=0

# quietly COMMAND... - run the command, and print its output only if it fails.
quietly() {
  "$@" > "$work/log" 2>&1 && return
  cat "$work/log"
  fail "$*"
  return 1
}

# runs WHAT PROGRAM - check that the program was built, and exits with 0.
runs() {
  if [ -x "$2" ] && "$2"; then
    echo "ok: $1"
    ran=$((ran + 1))
  else
    fail "$1: the program was not built, or failed"
  fi
}

# ---------------------------------------------------------------- the library, moved
quietly "$MAKE" -C "$top_builddir" install DESTDIR="$work/root" || exit 1
installed=$(sed -n 's/^prefix=//p' "$top_builddir/fairsem.pc")
mv "$work/root$installed" "$work/new prefix" || exit 99
case $(made libdir) in
  "$installed"/*) ;;
  *) not_here "libdir is not below the prefix" && exit 77 ;;
esac
pc=$(find "$work/new prefix" -name fairsem.pc)
config=$(find "$work/new prefix" -name fairsem-config.cmake)
if [ -z "$pc" ] || [ -z "$config" ]; then
  fail "what pkg-config or CMake reads was not installed"
  exit "$status"
fi
libdir=$(dirname "$(dirname "$pc")")
shared='' static=''
[ -z "$(made dlname)" ] || shared=shared
[ -z "$(made old_library)" ] || static=static

# hide_shared, show_shared - hide the shared library: a program that still runs is static.
hide_shared() {
  mkdir "$libdir/hidden"
  [ -z "$shared" ] || mv "$libdir"/libfairsem.so* "$libdir/hidden"
}

show_shared() {
  [ -z "$shared" ] || mv "$libdir"/hidden/* "$libdir"
  rmdir "$libdir/hidden"
}

mkdir "$work/source dir"
cd "$work/source dir" || exit 99
has_shared=0
! configure_says have_shared yes || has_shared=1
echo "enum { HAS_SHARED = $has_shared };" > has_shared.h
cat > prog.c <<'_EOF'
#include "has_shared.h"

#include <errno.h>
#include <fairsem.h>
#include <fairsem/shared.h>

static fairsem_t slots = FAIRSEM_INITIALIZER(0);

static void *give(void *arg)
{
    fairsem_release(&slots, 2);
    return arg;
}

int main(void)
{
    pthread_t thread;
    fairsem_shared_t *handle;

    if ((fairsem_shared_open(&handle, "", 0, 0, 0) != ENOSYS) != HAS_SHARED)
        return 2;
    if (pthread_create(&thread, 0, give, 0) != 0 || fairsem_acquire(&slots, 2) != 0)
        return 1;
    return pthread_join(thread, 0);
}
_EOF
cat > prog.cc <<'_EOF'
#include <fairsem.hpp>
#include <thread>

int main()
{
    fairsem::semaphore slots(0);
    std::thread gives([&] { slots.release(2); });

    fairsem::units(slots, 2).forget();
    gives.join();
    return slots.available() == 0 ? 0 : 1;
}
_EOF

# ---------------------------------------------------------------- the one file
# Compile the file once; amalgamation.sh compiles it with all compilers, standards and options.
mkdir subprojects && quietly "$top_srcdir/packaging/amalgamation.sh" subprojects/fairsem || exit 1
# shellcheck disable=SC2086 # a compiler can be several words
if quietly $CC -std=c11 -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror \
  -c subprojects/fairsem/fairsem.c -o one.o; then
  echo "ok: the one file compiles without a warning"
  ran=$((ran + 1))
fi

# ---------------------------------------------------------------- pkg-config
# use_pkg_config - pkg-config quotes its output for a shell, so eval the commands.
use_pkg_config() {
  PKG_CONFIG_PATH=$libdir/pkgconfig
  PKG_CONFIG_LIBDIR=
  export PKG_CONFIG_PATH PKG_CONFIG_LIBDIR
  flags=$(pkg-config --define-prefix --cflags --libs fairsem) || return
  if [ -n "$shared" ] && quietly eval "$CC $CFLAGS prog.c -o pc-shared $flags"; then
    LD_LIBRARY_PATH=$libdir runs "pkg-config, shared" ./pc-shared
  fi
  [ -n "$static" ] || return 0
  flags=$(pkg-config --define-prefix --static --cflags --libs fairsem)
  hide_shared
  if quietly eval "$CC $CFLAGS prog.c -o pc-static $flags"; then
    runs "pkg-config, static" ./pc-static
  fi
  show_shared
}

can_move=
if has pkg-config && [ "$libdir" = "$work/new prefix/lib" ] &&
  pkg-config --define-prefix --version > /dev/null 2>&1; then
  can_move=yes
  use_pkg_config
else
  not_tried "pkg-config: it is missing, or cannot find a library that was moved from $installed"
fi

# ---------------------------------------------------------------- CMake
cat > CMakeLists.txt <<'_EOF'
cmake_minimum_required(VERSION 3.12)
project(consumer ${LANGUAGES})
foreach(version 99 0.99 1.99)
  find_package(fairsem ${version} CONFIG QUIET)
  if(fairsem_FOUND)
    message(FATAL_ERROR "${fairsem_VERSION} passes for ${version}")
  endif()
endforeach()
find_package(fairsem CONFIG QUIET COMPONENTS nonsense)
if(fairsem_FOUND)
  message(FATAL_ERROR "nonsense is a component")
endif()
find_package(fairsem ${VERSION} EXACT CONFIG REQUIRED COMPONENTS ${KINDS})
find_package(fairsem CONFIG REQUIRED)
foreach(language ${LANGUAGES})
  foreach(kind ${KINDS})
    set(program ${language}-${kind})
    if(language STREQUAL C)
      add_executable(${program} prog.c)
    else()
      add_executable(${program} prog.cc)
      target_compile_features(${program} PRIVATE cxx_std_17)
    endif()
    if(kind STREQUAL shared)
      target_link_libraries(${program} PRIVATE fairsem::fairsem)
    else()
      target_link_libraries(${program} PRIVATE fairsem::static)
    endif()
  endforeach()
endforeach()
_EOF

use_cmake() {
  languages=C
  if has "$CXX"; then languages='C;CXX'; else not_tried "C++: there is no compiler"; fi
  kinds=$shared${shared:+${static:+;}}$static
  version=$(sed -n 's/^Version: //p' "$pc")
  quietly env CC="$CC" CXX="$CXX" CFLAGS="$CFLAGS" CXXFLAGS="$CFLAGS" \
    cmake -S . -B cmake-build -DCMAKE_PREFIX_PATH="$work/new prefix" -DVERSION="$version" \
    "-DLANGUAGES=$languages" "-DKINDS=$kinds" || return
  quietly cmake --build cmake-build || return
  for language in C CXX; do
    case $languages in *"$language"*) ;; *) continue ;; esac
    [ -z "$shared" ] || runs "CMake, $language, shared" "cmake-build/$language-shared"
    [ -n "$static" ] || continue
    hide_shared
    runs "CMake, $language, static" "cmake-build/$language-static"
    show_shared
  done
}

# inside_cmake HOW SHARED - build and run programs of a project that contains the library.
inside_cmake() {
  name=cmake-$1-$2 kinds=static
  [ "$2" = OFF ] || kinds='shared;static'
  # -O0: the library is compiled once more, and need not be fast.
  quietly env CC="$CC" CXX="$CXX" CFLAGS="$CFLAGS -O0" CXXFLAGS="$CFLAGS -O0" \
    cmake -S inside -B "$name" -DHOW="$1" -DSOURCE="$work/fair sem" -DBUILD_SHARED_LIBS="$2" \
    "-DLANGUAGES=$languages" "-DKINDS=$kinds" || return
  quietly cmake --build "$name" --parallel 2 || return
  for language in C CXX; do
    case $languages in *"$language"*) ;; *) continue ;; esac
    [ "$2" = OFF ] || runs "CMake, $language, $1, shared" "$name/$language-shared"
    runs "CMake, $language, $1, static, BUILD_SHARED_LIBS $2" "$name/$language-static"
  done
}

if has cmake; then
  use_cmake
  ln -s "$top_srcdir" "$work/fair sem"
  mkdir inside
  {
    cat << '_EOF'
cmake_minimum_required(VERSION 3.12)
project(consumer ${LANGUAGES})
if(HOW STREQUAL "add_subdirectory")
  add_subdirectory("${SOURCE}/packaging/cmake" fairsem)
else()
  include(FetchContent)
  FetchContent_Declare(fairsem SOURCE_DIR "${SOURCE}" SOURCE_SUBDIR packaging/cmake)
  FetchContent_MakeAvailable(fairsem)
endif()
_EOF
    sed -e '1,/^find_package(fairsem CONFIG REQUIRED)/d' -e 's| prog\.c| ../prog.c|' CMakeLists.txt
  } > inside/CMakeLists.txt
  inside_cmake add_subdirectory OFF
  inside_cmake add_subdirectory ON
  # SOURCE_SUBDIR is new in 3.18.
  case $(cmake --version) in
    *' '3.[0-9].* | *' '3.1[0-7].*) not_tried "FetchContent: CMake is too old" ;;
    *) inside_cmake FetchContent OFF ;;
  esac
else
  not_tried "there is no CMake"
fi

# ---------------------------------------------------------------- Meson
# Kinds: `shared` and `static` use pkg-config, `inside` uses a subproject.
cat > meson.build <<'_EOF'
project('consumer', 'c')
if get_option('kind') == 'inside'
  fairsem = dependency('fairsem')
else
  fairsem = dependency('fairsem', version: '>= 1.0', static: get_option('kind') == 'static')
endif
executable('prog', 'prog.c', dependencies: [fairsem, dependency('threads')])
_EOF
echo "option('kind', type: 'combo', choices: ['shared', 'static', 'inside'])" > meson_options.txt

# use_meson NAME KIND ARGUMENT... - build prog in meson-NAME.
use_meson() {
  name=$1 kind=$2
  shift 2
  # -O0: the subproject is compiled again, and need not be fast.
  quietly env CC="$CC" CFLAGS="$CFLAGS -O0" PKG_CONFIG="pkg-config --define-prefix" \
    meson setup "meson-$name" -Dkind="$kind" "$@" || return
  quietly meson compile -C "meson-$name" -j 2
}

if ! has meson || ! meson compile --help > /dev/null 2>&1; then
  not_tried "there is no Meson, or only an old one"
else
  if [ -n "$can_move" ]; then
    [ -z "$shared" ] || { use_meson shared shared && runs "Meson, shared" meson-shared/prog; }
    if [ -n "$static" ] && use_meson static static; then
      hide_shared
      runs "Meson, static" meson-static/prog
      show_shared
    fi
  fi
  printf '[wrap-file]\ndirectory = fairsem\n\n[provide]\nfairsem = fairsem_dep\n' \
    > subprojects/fairsem.wrap
  for library in shared static both; do
    use_meson "inside-$library" inside --wrap-mode=forcefallback \
      "-Dfairsem:default_library=$library" &&
      runs "Meson, as a subproject, $library" "meson-inside-$library/prog"
  done
fi

if [ "$ran" -eq 0 ] && [ "$status" -eq 0 ]; then
  skip "none of the three tools can be used here"
fi
exit "$status"
