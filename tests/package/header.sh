#!/bin/sh
# SPDX-License-Identifier: MIT
# header.sh - the headers stand alone, as C and as C++, without a warning, included twice; and
# every example in the headers and in README.md is a program that builds and runs.
set -u

: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${top_builddir:=$PWD}"
work=$(mktemp -d "$top_builddir/tests/header.XXXXXX") || exit 99
trap 'rm -rf "$work"' EXIT
status=0

# First in the file: nothing that other headers bring along can help it.
for header in fairsem.h fairsem/shared.h; do
  cat > "$work/alone-${header##*/}.c" <<_EOF
#include <$header>
#include <$header>
typedef int translation_unit_not_empty;
_EOF
done

cat > "$work/use.c" <<'_EOF'
#include <fairsem.h>
#include <stddef.h>

static fairsem_t slots = FAIRSEM_INITIALIZER(4);
static fairsem_t none = FAIRSEM_INITIALIZER(0);
struct pool { char flag; fairsem_t free; };
static struct pool pool = { 'p', FAIRSEM_INITIALIZER(INT64_C(1) << 40) };

int use(void);
int use(void)
{
    fairsem_attr_t attr = { "name", 8, 0, 0, { 0 }, 0 };
    fairsem_t local;

    return fairsem_init(&local, FAIRSEM_VERSION_MAJOR, &attr)
        + fairsem_init(&none, FAIRSEM_VERSION_MINOR + FAIRSEM_VERSION_PATCH, NULL)
        + fairsem_acquire(&slots, 1) + fairsem_acquire_for(&pool.free, 1, 1000)
        + (fairsem_would_block(&slots, 2) ? FAIRSEM_VERSION_STRING[0] : 0)
        + (int)offsetof(struct pool, free);
}
_EOF

# The names of POSIX, whoever includes <semaphore.h> and when.
for order in 'P' 'SP' 'PS' 'SPS'; do
  {
    echo "$order" | sed -e 's/S/#include <semaphore.h>\n/g' -e 's/P/#include <fairsem\/posix.h>\n/g'
    cat << '_EOF'
static sem_t sem;
int (*take)(sem_t *) = sem_wait;
int use(void);
int use(void)
{
    struct timespec soon = { 0, 0 };
    int value;

    return sem_init(&sem, 0, 1) + take(&sem) + sem_trywait(&sem) + sem_timedwait(&sem, &soon)
        + sem_clockwait(&sem, 0, &soon) + sem_post(&sem)
        + sem_getvalue(&sem, &value) + sem_destroy(&sem) + (sem_open("/x", 0) == SEM_FAILED);
}
_EOF
  } > "$work/posix-$order.c"
  cp "$work/posix-$order.c" "$work/posix-$order.cc"
done

# Names that are keywords there, also in this one.
cp "$work/alone-shared.h.c" "$work/alone-shared.h.cc"

# What differs in C++: templates and classes around it, and names that are keywords there.
cat > "$work/use.cc" <<'_EOF'
#include <fairsem.h>
#include <fairsem.h>

class Slots {
public:
    Slots() { fairsem_init(&sem, 4, nullptr); }
    ~Slots() { fairsem_destroy(&sem); }
    bool take() { return fairsem_tryacquire(&sem, 1) == 0; }
private:
    fairsem_t sem;
};

static fairsem_t global = FAIRSEM_INITIALIZER(4);
static_assert(sizeof(fairsem_t) == 256, "the size is part of the binary interface");
static_assert(alignof(fairsem_t) == 16, "so is the alignment");

bool use();
bool use()
{
    static Slots slots;
    fairsem_wait_t how = {};
    return slots.take() && fairsem_acquire_with(&global, 1, &how) == 0;
}
_EOF

# compile COMPILER STANDARD FILE... - skips a standard the compiler does not know.
compile() {
  compiler=$1 standard=$2
  shift 2
  case $1 in
    *.cc) language=c++ ;;
    *) language=c ;;
  esac
  # shellcheck disable=SC2086 # a compiler may be several words
  if ! $compiler "-std=$standard" -x "$language" -fsyntax-only /dev/null 2> /dev/null; then
    echo "$compiler does not know -std=$standard: not tried"
    return
  fi
  for file in "$@"; do
    # shellcheck disable=SC2086
    if $compiler "-std=$standard" -Wall -Wextra -Wpedantic -Wshadow -Wundef -Werror \
      -I"$top_srcdir/include" -c "$file" -o "$work/out.o"; then
      echo "ok: $compiler -std=$standard ${file##*/}"
    else
      echo "FAILED: $compiler -std=$standard ${file##*/}"
      status=1
    fi
  done
}

# The compiler of the build may be one of the usual names: try each only once.
each_compiler() {
  for compiler in "$@"; do
    command -v "${compiler%% *}" > /dev/null 2>&1 && echo "$compiler"
  done | sort -u
}

each_compiler "${CC:-cc}" gcc clang > "$work/c"
each_compiler "${CXX:-c++}" g++ clang++ > "$work/cxx"
while read -r compiler; do
  for standard in c11 gnu17 c2x; do
    compile "$compiler" "$standard" "$work"/alone-*.c "$work/use.c" "$work"/posix-*.c
  done
done < "$work/c"
while read -r compiler; do
  for standard in c++11 c++17 c++20; do
    compile "$compiler" "$standard" "$work/use.cc" "$work"/alone-*.cc "$work"/posix-*.cc
  done
done < "$work/cxx"
[ -s "$work/cxx" ] || echo "no C++ compiler: C++ not tried"

# ---------------------------------------------------------------- the examples
fail() {
  echo "FAILED: $*"
  status=1
}

# examples FILE PREFIX - each block of a comment behind the line "Example:" goes into a file of
# its own, PREFIX-SECTION-NUMBER.c.  The sections are those of the headings, "  3  Acquire ...";
# 0 is what comes before the first.  Prints the names of the sections that declare something
# before they have given an example.
examples() {
  awk -v prefix="$2" '
    / \*  [0-9]+  [A-Z]/ { section = $2; number = 0 }
    /^ \* Example:/ { file = prefix "-" (section + 0) "-" (++number) ".c"; next }
    file != "" && /^ \*(     .*)?$/ { print substr($0, 8) > file; next }
    { file = "" }
    section && number == 0 && /^(FAIRSEM_API|typedef|enum|struct|#define)/ { bare[section] = 1 }
    END { for (section in bare) print section }' "$1"
}

# blocks FILE PREFIX - the same for the blocks of C in a file of Markdown.
blocks() {
  awk -v prefix="$2" '
    /^```/ { file = $0 == "```c" ? prefix "-" (++number) ".c" : ""; next }
    file != "" { print > file }' "$1"
}

library=$top_builddir/.libs/libfairsem.a
[ -f "$library" ] || library=$top_builddir/.libs/libfairsem.so
limit=
command -v timeout > /dev/null 2>&1 && limit="timeout 60"
ran=0

# build FILE ARGUMENT... - as its reader would, and without a warning.
build() {
  # shellcheck disable=SC2086 # lists
  ${CC:-cc} ${CFLAGS-} -Wall -Wextra -Wpedantic -Werror -I"$top_srcdir/include" "$@" && return
  fail "${1##*/} does not build"
  return 1
}

# runs FILE... - each is a complete program, and ends with 0.
runs() {
  for file in "$@"; do
    build "$file" -o "$work/prog" "$library" -pthread || continue
    if LD_LIBRARY_PATH=$top_builddir/.libs $limit "$work/prog" > "$work/said" 2>&1; then
      echo "ok: ${file##*/}"
      ran=$((ran + 1))
    else
      cat "$work/said"
      fail "${file##*/} does not run"
    fi
  done
}

# manual HEADER - as many sections as the list at its top promises, each of them and the top itself
# with an example; all of them run.
manual() {
  header=$top_srcdir/include/$1 name=${1##*/} before=$ran
  bare=$(examples "$header" "$work/$name")
  [ -z "$bare" ] || fail "a section of $name does not begin with an example: $bare"
  runs "$work/$name"-*.c
  sections=$(grep -c '^ \*  [0-9]*  [A-Z]' "$header")
  promised=$(grep -c '^ \*     [0-9]*  [a-z]' "$header")
  if [ "$sections" -lt 1 ] || [ "$sections" -ne "$promised" ]; then
    fail "$name has $sections sections, and says that it has $promised"
  fi
  section=0
  while [ "$section" -le "$sections" ]; do
    [ -f "$work/$name-$section-1.c" ] || fail "$name, section $section: no example"
    section=$((section + 1))
  done
  [ $((ran - before)) -gt "$sections" ] || fail "only $((ran - before)) examples of $name run"
}
manual fairsem.h
# Elsewhere its functions say ENOSYS.
[ "$(uname)" != Linux ] || manual fairsem/shared.h

examples "$top_srcdir/include/fairsem/posix.h" "$work/posix.h"
[ -f "$work/posix.h-0-1.c" ] || fail "posix.h: no example"
# Elsewhere its sem_init says ENOSYS.
[ "$(uname)" != Linux ] || runs "$work"/posix.h-*.c

# The first of README.md is a program; the others are shown to be right as far as they go.
blocks "$top_srcdir/README.md" "$work/README"
runs "$work/README-1.c"
for file in "$work"/README-*.c; do
  build "$file" -c -o "$work/out.o" && echo "ok: ${file##*/}, compiled"
done
exit "$status"
