#!/bin/sh
# SPDX-License-Identifier: MIT
# header.sh - each header compiles alone and included twice, without a warning, in each version of C
# and C++; and every example in the C headers and in README.md builds and runs.
set -u

: "${top_srcdir:=$(cd "$(dirname "$0")/../../.." && pwd)}" "${top_builddir:=$PWD}"
. "$top_srcdir/tests/support/script.sh"
library=$(library)

# It comes first, so no other header can declare what it lacks.
for header in fairsem.h fairsem_private.h fairsem/shared.h fairsem/cluster.h; do
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
    fairsem_attr_t attr = { "name", 8, 0, 0, { 0 }, 0, 0 };
    fairsem_t local;

    return fairsem_init(&local, FAIRSEM_VERSION_MAJOR, &attr)
        + fairsem_init(&none, FAIRSEM_VERSION_MINOR + FAIRSEM_VERSION_PATCH, NULL)
        + fairsem_acquire(&slots, 1) + fairsem_acquire_for(&pool.free, 1, 1000)
        + (fairsem_would_block(&slots, 2) ? FAIRSEM_VERSION_STRING[0] : 0)
        + (int)offsetof(struct pool, free);
}
_EOF

# The names of POSIX, with <semaphore.h> included before or after, or not at all.
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

# Names that are keywords in C++, in this header, too.
cp "$work/alone-shared.h.c" "$work/alone-shared.h.cc"
cp "$work/alone-cluster.h.c" "$work/alone-cluster.h.cc"

# The header in C++: inside a class, with constant expressions and C++ keywords.
cat > "$work/use.cc" <<'_EOF'
#include <fairsem.h>
#include <fairsem.h>

class Slots {
public:
    Slots() : error(fairsem_init(&sem, 4, nullptr)) {}
    ~Slots() { if (fairsem_destroy(&sem) != 0) error = 1; }
    bool take() { return error == 0 && fairsem_tryacquire(&sem, 1) == 0; }
private:
    fairsem_t sem;
    int error;
};

static fairsem_t global = FAIRSEM_INITIALIZER(4);
struct pool { char flag; fairsem_t free; };
static struct pool pool = { 'p', FAIRSEM_INITIALIZER(INT64_C(1) << 40) };
static fairsem_token_t token = FAIRSEM_TOKEN_INITIALIZER;
static_assert(sizeof(fairsem_t) == (sizeof(pthread_mutex_t) == 64 ? 288 : 256),
              "the size is part of the binary interface");
static_assert(alignof(fairsem_t) == 16, "so is the alignment");

bool use();
bool use()
{
    static Slots slots;
    fairsem_wait_t how = {};
    fairsem_t local = FAIRSEM_INITIALIZER(sizeof pool);
    FAIRSEM_SCOPED fairsem_units_t units = {};

    how.token = &token;
    return slots.take() && fairsem_acquire_with(&global, 1, &how) == 0
        && fairsem_units_acquire(&units, &local, FAIRSEM_MAX_UNITS, nullptr) == 0
        && fairsem_release(&pool.free, 1) == 0;
}
_EOF

# The compiler warns about a template of fairsem.hpp only when it is used.
cat > "$work/use_hpp.cc" <<'_EOF'
#include <fairsem.hpp>
#include <fairsem.hpp>

static fairsem::counting_semaphore<3> three(3);
static fairsem::binary_semaphore one(1);

struct seconds_clock {
    using duration = std::chrono::duration<int>;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<seconds_clock>;
    static constexpr bool is_steady = false;
    static time_point now() { return time_point(duration(5)); }
};

bool use();
bool use()
{
    using std::chrono::duration;

    fairsem::token token;
    fairsem::units held(three), other(std::move(held));
    std::future<fairsem::units> future = three.acquire_future(2);

    held = other.split(1);
    return token.cancel() && one.try_acquire_for(duration<float>(1.f), 2, { -1, &token })
        && one.try_acquire_for(std::chrono::hours(1))
        && one.try_acquire_until(std::chrono::steady_clock::now() + duration<double>(1.))
        && one.try_acquire_until(std::chrono::system_clock::now() + duration<short>(1))
        && one.try_acquire_until(seconds_clock::now() + duration<unsigned char>(1));
}

#if defined(__cpp_lib_jthread)
bool stop(const std::stop_token &stop);
bool stop(const std::stop_token &stop)
{
    return one.acquire(stop, 2) && one.try_acquire_for(stop, std::chrono::hours(1))
        && one.try_acquire_until(stop, seconds_clock::now());
}
#endif

#if defined(__cpp_lib_coroutine)
struct task {
    struct promise_type {
        task get_return_object() { return {}; }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_never final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() {}
    };
};

/* gcc 12 finds a null pointer in code of its own, which makes any coroutine start. */
#pragma GCC diagnostic ignored "-Wzero-as-null-pointer-constant"
task coroutine();
task coroutine()
{
    fairsem::units held = co_await three.async_acquire(2);
#if defined(__cpp_lib_jthread)
    held = co_await one.async_acquire(std::stop_token(), 1, -3);
#endif
}
#endif
_EOF

# accepts FILE... - without a warning; one start of the compiler for all takes half of the time.
accepts() {
  # shellcheck disable=SC2086 # lists
  $compiler "-std=$standard" -Wall -Wextra -Wpedantic -Wshadow -Wundef $more -Werror \
    -Wno-attribute-warning -Wno-user-defined-warnings \
    -I"$top_srcdir/include" -fsyntax-only "$@"
}

# compile COMPILER STANDARD FILE... - unless the compiler does not know the standard.
compile() {
  compiler=$1 standard=$2 more=
  shift 2
  case $1 in
    *.cc)
      more="-Wold-style-cast -Wconversion -Wsign-conversion -Wextra-semi -Wzero-as-null-pointer-constant"
      language=c++
      # clang does not know this warning.
      case $knows_useless_cast in
        *" ${compiler% -fno-exceptions} "*) more="$more -Wuseless-cast" ;;
      esac
      ;;
    *) language=c ;;
  esac
  if ! accepts "$@" > "$work/said" 2>&1; then
    knows_standard "$compiler" "$language" "$standard" || return 0
    for file in "$@"; do
      accepts "$file" || fail "$compiler -std=$standard ${file##*/}"
    done
    [ "$status" -ne 0 ] || { cat "$work/said" && fail "$compiler -std=$standard: all at once"; }
    return
  fi
  for file in "$@"; do
    echo "ok: $compiler -std=$standard ${file##*/}"
  done
}

# In structs that are packed the library would find nothing where it looks.
refuses_packed() {
  compiler=$1 language=$2
  shift 2
  # shellcheck disable=SC2086 # a compiler may be several words
  if printf '%s\n' "$@" '#include <fairsem.h>' |
    $compiler -I"$top_srcdir/include" -x "$language" -fsyntax-only - > "$work/said" 2>&1; then
    fail "$compiler accepts the header after $1"
  elif ! grep -q fairsem_is_not_for_packed_structs_ "$work/said"; then
    cat "$work/said"
    fail "$compiler says nothing of packed structs after $1"
  fi
}

# The compiler of the build may be one of the usual ones: try each only once.
each_compiler "$CC" gcc clang > "$work/c"
each_compiler "$CXX" g++ clang++ > "$work/cxx"
knows_useless_cast=' '
while read -r compiler; do
  # shellcheck disable=SC2086 # a compiler may be several words
  ! $compiler -Werror -Wuseless-cast -x c++ -fsyntax-only /dev/null 2> /dev/null ||
    knows_useless_cast="$knows_useless_cast$compiler "
done < "$work/cxx"
while read -r compiler; do
  for standard in c11 gnu17 c2x; do
    compile "$compiler" "$standard" "$work"/alone-*.c "$work/use.c" "$work"/posix-*.c
  done
  for n in 1 2 4; do
    [ "$n" = 4 ] && [ "$(getconf LONG_BIT)" != 64 ] && continue
    refuses_packed "$compiler" c '#include <pthread.h>' '#include <stdint.h>' "#pragma pack($n)"
  done
done < "$work/c"
while read -r compiler; do
  for standard in c++11 c++14 c++17 c++20 c++2b; do
    compile "$compiler" "$standard" "$work/use.cc" "$work"/alone-*.cc "$work"/posix-*.cc
  done
  # tests/cxx/cxx.sh compiles it as C++20 with these warnings.
  compile "$compiler -fno-exceptions" c++17 "$work/use_hpp.cc"
  compile "$compiler" c++2b "$work/use_hpp.cc"
done < "$work/cxx"
[ -s "$work/cxx" ] || not_tried "C++: there is no compiler"

# ---------------------------------------------------------------- the examples
# examples FILE PREFIX - copy each block of a comment behind the line "Example:" into a file of its
# own, PREFIX-SECTION-NUMBER.c.  Sections have the numbers of their headings, "  3  Acquire ...";
# section 0 comes before the first heading.
examples() {
  awk -v prefix="$2" '
    / \*  [0-9]+  [A-Z]/ { section = $2; number = 0 }
    /^ \* Example:/ { file = prefix "-" (section + 0) "-" (++number) ".c"; next }
    file != "" && /^ \*(     .*)?$/ { print substr($0, 8) > file; next }
    { file = "" }' "$1"
}

# blocks FILE PREFIX - the same for the blocks of C in a Markdown file.
blocks() {
  awk -v prefix="$2" '
    /^```/ { file = $0 == "```c" ? prefix "-" (++number) ".c" : ""; next }
    file != "" { print > file }' "$1"
}

ran=0

# build FILE ARGUMENT... - as a reader would, and without a warning.
build() {
  # shellcheck disable=SC2086 # lists
  $CC ${CFLAGS-} -Wall -Wextra -Wpedantic -Werror -I"$top_srcdir/include" "$@" && return
  fail "${1##*/} does not build"
  return 1
}

# runs FILE... - each is a complete program and exits with 0.
runs() {
  for file in "$@"; do
    build "$file" -o "$work/prog" "$library" -pthread || continue
    if LD_LIBRARY_PATH=$top_builddir/.libs limited "$work/prog" > "$work/said" 2>&1; then
      echo "ok: ${file##*/}"
      ran=$((ran + 1))
    else
      cat "$work/said"
      fail "${file##*/} fails"
    fi
  done
}

# manual HEADER [builds] - its first comment has an example and lists all functions, each in the
# section that declares it; and all examples run, or only build.
manual() {
  header=$top_srcdir/include/$1 name=${1##*/}
  examples "$header" "$work/$name"
  [ -f "$work/$name-0-1.c" ] || fail "$name: no example at the top"
  if [ "${2-}" = builds ]; then
    build "$work/$name-0-1.c" -c -o "$work/object"
  else
    runs "$work/$name"-*.c
  fi
  awk '/^#/ { exit }
    /^ \*     [0-9]+  [a-z]/ { section = $2 }
    section != "" && /^ \*         fairsem_/ { print section, $2 }' "$header" | sort > "$work/listed"
  awk '/^ \*  [0-9]+  [A-Z]/ { section = $2 }
    /^FAIRSEM_API/ { sub(/\(.*/, ""); sub(/.*[ *]/, ""); print section, $0 }' "$header" |
    sort > "$work/declared"
  if [ -s "$work/listed" ] && diff "$work/listed" "$work/declared" > "$work/diff"; then
    echo "ok: $name lists its $(wc -l < "$work/listed") functions"
  else
    fail "$name: listed at the top (<), declared below (>):" && cat "$work/diff"
  fi
}
manual fairsem.h
# Elsewhere its functions return ENOSYS.
[ "$(uname)" != Linux ] || manual fairsem/shared.h
# It would need an engine.
manual fairsem/cluster.h builds

examples "$top_srcdir/include/fairsem/posix.h" "$work/posix.h"
[ -f "$work/posix.h-0-1.c" ] || fail "posix.h: no example"
# Elsewhere its sem_init fails with ENOSYS.
[ "$(uname)" != Linux ] || runs "$work"/posix.h-*.c

blocks "$top_srcdir/README.md" "$work/README"
[ -f "$work/README-1.c" ] || fail "README.md: no example"
runs "$work"/README-*.c
exit "$status"
