#!/bin/sh
# SPDX-License-Identifier: MIT
# names.sh - fairsem/posix.h replaces the functions of POSIX, and nothing else with their names.
#
# The linker sees a member of a C++ class that is called sem_post by the same name, whether a source
# file includes fairsem/posix.h or <semaphore.h>.  Whichever of them comes first, a call of a
# function, and its address, mean that of this library.
set -u

: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${top_builddir:=$PWD}"
. "$top_srcdir/tests/support/script.sh"
library=$(library)
if [ "$(uname)" != Linux ]; then
  not_here "sem_init fails on this system"
  exit 77
fi
LD_LIBRARY_PATH=$top_builddir/.libs
export LD_LIBRARY_PATH

# ---------------------------------------------------------------- a library that knows only libc's
cat > "$work/gate.hpp" << '_EOF'
class gate {
public:
    gate() : units(0) {}
    virtual ~gate();
    int sem_init(int value);
    int sem_destroy();
    virtual int sem_wait();
    int sem_trywait();
    int sem_timedwait();
    int sem_clockwait();
    int sem_post();
    int sem_getvalue() const;
    int sem_close();
    static int sem_posts;
#ifdef NO_MACROS
    int sem_open();
    int sem_unlink();
    typedef int sem_t;
    sem_t as_number() const;
#endif
private:
    int units;
};
namespace gates { int sem_post(gate &it); }
_EOF

cat > "$work/gate.cc" << '_EOF'
#include <semaphore.h>
#include "gate.hpp"
int gate::sem_posts = 0;
gate::~gate() {}
int gate::sem_init(int value) { units = value; return 0; }
int gate::sem_destroy() { return 0; }
int gate::sem_wait() { return sem_trywait(); }
int gate::sem_trywait() { return units > 0 ? --units, 0 : -1; }
int gate::sem_timedwait() { return sem_wait(); }
int gate::sem_clockwait() { return sem_wait(); }
int gate::sem_post() { sem_posts++; return units++, 0; }
int gate::sem_getvalue() const { return units; }
int gate::sem_close() { return 0; }
#ifdef NO_MACROS
int gate::sem_open() { return 0; }
int gate::sem_unlink() { return 0; }
gate::sem_t gate::as_number() const { return units; }
#endif
int gates::sem_post(gate &it) { return it.sem_post(); }
_EOF

# The header of another library, which hands out a semaphore of libc.
cat > "$work/others.hpp" << '_EOF'
#include <semaphore.h>
extern sem_t others;
int value_of_others();
_EOF
cat > "$work/others.cc" << '_EOF'
#include "others.hpp"
sem_t others;
int value_of_others()
{
    int value = -1;
    return sem_getvalue(&others, &value) == 0 ? value : -1;
}
_EOF

# ---------------------------------------------------------------- a program that includes both
cat > "$work/use.cc" << '_EOF'
#include <cerrno>
#include <cstdio>
#ifdef NO_MACROS
#include <functional>
#include <memory>
#endif
#include <pthread.h>
#include <sched.h>
#include <thread>
#include <type_traits>

static int failed(const char *what)
{
    std::fprintf(stderr, "FAILED: %s\n", what);
    return 1;
}

/* Its members have the names of the functions that they call. */
class fair_gate : public gate {
public:
    fair_gate() { ::sem_init(&sem, 0, 0); }
    ~fair_gate() override { ::sem_destroy(&sem); }
    fair_gate(const fair_gate &) = delete;
    fair_gate &operator=(const fair_gate &) = delete;
    int sem_wait() override { return ::sem_wait(&sem); }
    int sem_post() { return ::sem_post(&sem); }
    int value()
    {
        int number = -1;
        return ::sem_getvalue(&sem, &number) == 0 ? number : -1;
    }
    ::sem_t sem;
};

static int members()
{
    fair_gate fair;
    gate plain, &base = fair;

    if (plain.sem_init(1) != 0 || plain.sem_wait() != 0 || plain.sem_trywait() != -1
        || plain.sem_post() != 0 || gates::sem_post(plain) != 0 || plain.sem_timedwait() != 0
        || plain.sem_clockwait() != 0 || plain.sem_getvalue() != 0 || plain.sem_close() != 0
        || plain.sem_destroy() != 0 || gate::sem_posts != 2)
        return failed("a class of the library");
#ifdef NO_MACROS
    gate::sem_t number = plain.as_number();
    if (plain.sem_open() != 0 || plain.sem_unlink() != 0 || number != 0)
        return failed("members that are called sem_open, sem_unlink and sem_t");
#endif
    if (fair.sem_post() != 0 || fair.value() != 1 || base.sem_wait() != 0 || fair.value() != 0)
        return failed("a class that is derived from it");
    return 0;
}

/* They are this library's: the type is, and named semaphores do not exist. */
static int functions()
{
    int (*init)(sem_t *, int, unsigned) = sem_init;
    int (*one[])(sem_t *) = { &sem_destroy, ::sem_wait, &::sem_trywait, sem_post, sem_close };
    int (*timed)(sem_t *, const struct timespec *) = sem_timedwait;
    int (*clocked)(sem_t *, clockid_t, const struct timespec *) = sem_clockwait;
    int (*value)(sem_t *, int *) = sem_getvalue;
    sem_t *(*by_name)(const char *, int, ...) = sem_open;
    int (*by_name_too)(const char *) = sem_unlink;
    struct timespec past = { 0, 0 };
    int number = -1;
    sem_t sem;

    static_assert(std::is_same<sem_t, fairsem_sem_t>::value, "sem_t is this library's");
    if (init(&sem, 0, 2) != 0 || one[1](&sem) != 0 || one[2](&sem) != 0 || one[2](&sem) != -1
        || errno != EAGAIN || timed(&sem, &past) != -1 || errno != ETIMEDOUT
        || clocked(&sem, CLOCK_MONOTONIC, &past) != -1 || errno != ETIMEDOUT
        || one[3](&sem) != 0 || value(&sem, &number) != 0 || number != 1)
        return failed("calls by address");
    if (one[4](&sem) != -1 || errno != ENOSYS || by_name("/names", 0) != SEM_FAILED
        || errno != ENOSYS || by_name_too("/names") != -1 || errno != ENOSYS)
        return failed("named semaphores");
    if (one[0](&sem) != 0 || init(&sem, 1, 0) != -1 || errno != ENOSYS)
        return failed("pshared");
    return 0;
}

#ifdef NO_MACROS
/* Where the names have one meaning each, a context that names no type is enough. */
static int without_types()
{
    std::unique_ptr<sem_t, decltype(&sem_destroy)> owner(new sem_t, &sem_destroy);
    auto give = std::bind(sem_post, owner.get());

    if (sem_init(owner.get(), 0, 0) != 0 || give() != 0)
        return failed("bind");
    std::thread(sem_wait, owner.get()).join();
    return sem_trywait(owner.get()) == -1 ? 0 : failed("thread");
}
#endif

#ifdef OTHERS
/* A semaphore of libc is used with libc's functions. */
static int libcs()
{
    if (sem_init(&others, 0, 3) != 0 || sem_wait(&others) != 0 || value_of_others() != 2
        || ::sem_post(&others) != 0 || value_of_others() != 3 || sem_destroy(&others) != 0)
        return failed("a semaphore of libc");
    return 0;
}
#endif

static fair_gate closed;
static bool unwound;

struct leaves {
    ~leaves() { unwound = true; }
};

static void *wait_in_vain(void *)
{
    leaves frame;

    ::sem_wait(&closed.sem);
    return nullptr;
}

/* The cancellation of a wait is an exception that passes the frames of C++. */
static int canceled()
{
    pthread_t thread;

    if (pthread_create(&thread, nullptr, wait_in_vain, nullptr) != 0)
        return failed("pthread_create");
    while (fairsem_waiters(&closed.sem.fairsem_inside_) != 1)
        sched_yield();
    pthread_cancel(thread);
    pthread_join(thread, nullptr);
    return unwound ? 0 : failed("a canceled wait");
}

int main()
{
    int status = members() + functions() + canceled();

#ifdef NO_MACROS
    status += without_types();
#endif
#ifdef OTHERS
    status += libcs();
#endif
    return status;
}
_EOF

# The same for C, where only the source file itself can see a difference.
cat > "$work/use.c" << '_EOF'
#include <stddef.h>

static int counted;
static int count(void) { return ++counted; }

int main(void)
{
    struct gate gate = { .sem_post = count, .sem_wait = 7 };
    int (*post)(sem_t *) = sem_post;
    sem_t sem;

    if (sem_init(&sem, 0, 0) != 0 || post(&sem) != 0 || sem_wait(&sem) != 0)
        return 1;
    return gate.sem_post() == 1 && gate.sem_wait == 7 && sem_destroy(&sem) == 0 ? 0 : 2;
}
_EOF
echo 'struct gate { int (*sem_post)(void); int sem_wait; };' > "$work/gate.h"

# ---------------------------------------------------------------- every order
# includes ORDER SUFFIX - F: fairsem/posix.h, S: <semaphore.h>, G: gate.SUFFIX, O: others.hpp.
includes() {
  for letter in $(echo "$1" | sed 's/./& /g'); do
    case $letter in
      F) echo '#include <fairsem/posix.h>' ;;
      S) echo '#include <semaphore.h>' ;;
      G) echo "#include \"gate.$2\"" ;;
      O) echo '#include "others.hpp"' ;;
    esac
  done
}

# Compiling takes nearly all of the time: without optimization, and the library only once for all orders.
fast="${CFLAGS-} -O0 -g0"
strict_cxx='-Wall -Wextra -Wpedantic -Wshadow -Wold-style-cast -Wno-ignored-attributes -Werror'

# parts COMPILER STANDARD - compile the library that knows only libc's, also with NO_MACROS.
parts() {
  # shellcheck disable=SC2086 # lists
  (cd "$work" && $1 $fast "-std=$2" $strict_cxx -c gate.cc others.cc &&
    $1 $fast "-std=$2" $strict_cxx -DNO_MACROS -c gate.cc -o gate-DNO_MACROS.o)
}

# cxx COMPILER STANDARD ORDER [OPTION]
cxx() {
  what="$1 -std=$2, included in the order $3"
  gate=$work/gate.o
  [ "${4-}" != -DNO_MACROS ] || gate=$work/gate-DNO_MACROS.o
  { includes "$3" hpp && cat "$work/use.cc"; } > "$work/main.cc"
  # shellcheck disable=SC2086 # lists
  if $1 $fast "-std=$2" $strict_cxx ${4-} -I"$top_srcdir/include" -I"$work" "$work/main.cc" "$gate" \
    "$work/others.o" -o "$work/prog" "$library" -pthread && limited "$work/prog"; then
    echo "ok: $what"
  else
    fail "$what"
  fi
}

# c COMPILER ORDER
c() {
  { includes "$2" h && cat "$work/use.c"; } > "$work/main.c"
  # shellcheck disable=SC2086 # lists
  if $1 $fast -std=c11 -Wall -Wextra -Wpedantic -Werror -I"$top_srcdir/include" -I"$work" \
    "$work/main.c" -o "$work/prog" "$library" -pthread && limited "$work/prog"; then
    echo "ok: $1, included in the order $2"
  else
    fail "$1, included in the order $2"
  fi
}

each_compiler "$CC" gcc clang > "$work/c"
each_compiler "$CXX" g++ clang++ > "$work/cxx"
while read -r compiler; do
  # If <semaphore.h> comes first, the names are macros, and the struct must come later.
  for order in FG GF FGS SFG; do
    c "$compiler" "$order"
  done
done < "$work/c"
while read -r compiler; do
  for standard in c++11 c++20; do
    # In C++20 the headers of C++ include <semaphore.h>.
    # shellcheck disable=SC2086 # a compiler may be several words
    if ! echo '#include <thread>' |
      $compiler "-std=$standard" -x c++ -fsyntax-only - > "$work/log" 2>&1; then
      not_here "$compiler does not know -std=$standard"
      continue
    fi
    parts "$compiler" "$standard" || { fail "$compiler -std=$standard: gate.cc" && continue; }
    cxx "$compiler" "$standard" FG -DNO_MACROS
    cxx "$compiler" "$standard" GF -DNO_MACROS
    cxx "$compiler" "$standard" FSG -DNO_MACROS
    cxx "$compiler" "$standard" SFG
    cxx "$compiler" "$standard" SGFS
    cxx "$compiler" "$standard" OFG -DOTHERS
  done
done < "$work/cxx"
[ -s "$work/cxx" ] || not_tried "C++: there is no compiler"
exit "$status"
