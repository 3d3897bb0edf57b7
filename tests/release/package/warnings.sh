#!/bin/sh
# SPDX-License-Identifier: MIT
# warnings.sh - what the headers make a compiler say: it warns about a result that must not be
# ignored and about NULL where a function cannot take it, and about nothing else; and fairsem.hpp
# before C++17 is one error.
set -u

: "${top_srcdir:=$(cd "$(dirname "$0")/../../.." && pwd)}" "${top_builddir:=$PWD}"
. "$top_srcdir/tests/support/script.sh"
include=$top_srcdir/include

# ---------------------------------------------------------------- sources, in C and in C++
# The compiler must warn about each line that ends with "WARNS", and about no other.
cat > "$work/objects.h" << '_EOF'
#include <fairsem/shared.h>

#include <stddef.h>

static fairsem_t sem = FAIRSEM_INITIALIZER(1);
static fairsem_t *created;
static fairsem_token_t token = FAIRSEM_TOKEN_INITIALIZER;
static fairsem_units_t units, more;
static fairsem_request_t requests[1];
static fairsem_ticket_t ticket;
static fairsem_stat_t stat;
static fairsem_shared_t *handle;
static fairsem_shared_stat_t shared_stat;
static fairsem_shared_user_t users[1];
static int count = 1;
static struct timespec at;

static inline void nothing(void *arg)
{
    (void)arg;
}

void all(void);
_EOF

cat > "$work/ignored.c" << '_EOF'
#include "objects.h"
void all(void)
{
    fairsem_version();
    fairsem_strerror(0);
    fairsem_init(&sem, 1, NULL);                                        /* WARNS */
    fairsem_destroy(&sem);                                              /* WARNS */
    fairsem_new(&created, 1, NULL);                                     /* WARNS */
    fairsem_free(created);
    fairsem_acquire(&sem, 1);                                           /* WARNS */
    fairsem_tryacquire(&sem, 1);                                        /* WARNS */
    fairsem_tryacquire_upto(&sem, 1);                                   /* WARNS */
    fairsem_release(&sem, 1);
    fairsem_acquire_for(&sem, 1, 1);                                    /* WARNS */
    fairsem_acquire_until(&sem, 1, CLOCK_REALTIME, &at);                /* WARNS */
    fairsem_token_init(&token);
    fairsem_token_destroy(&token);
    fairsem_token_cancel(&token, 0);
    fairsem_token_reason(&token);
    fairsem_acquire_with(&sem, 1, NULL);                                /* WARNS */
    fairsem_acquire_all(requests, 1, NULL);                             /* WARNS */
    fairsem_release_all(requests, 1);
    fairsem_capacity(&sem);
    fairsem_set_capacity(&sem, 1);
    fairsem_consume(&sem, 1);
    fairsem_close(&sem, 0);
    fairsem_closed(&sem);
    fairsem_drain(&sem, 1, NULL);                                       /* WARNS */
    fairsem_available(&sem);
    fairsem_waiters(&sem);
    fairsem_would_block(&sem, 1);
    fairsem_stat(&sem, &stat);
    fairsem_stat_interval(&sem, &stat);
    fairsem_dump(&sem, stdout);
    fairsem_units_acquire(&units, &sem, 1, NULL);                       /* WARNS */
    fairsem_units_tryacquire(&units, &sem, 1);                          /* WARNS */
    fairsem_units_adopt(&units, &sem, 1);                               /* WARNS */
    fairsem_units_release(&units);
    fairsem_units_return(&units, 1);
    fairsem_units_split(&units, 1, &more);                              /* WARNS */
    fairsem_units_merge(&units, &more);                                 /* WARNS */
    fairsem_units_forget(&units);
    fairsem_with(&sem, 1, nothing, NULL);                               /* WARNS */
    fairsem_ticket_take(&ticket, &sem, 1, 0, NULL, NULL);               /* WARNS */
    fairsem_ticket_state(&ticket);
    fairsem_ticket_wait(&ticket, NULL);                                 /* WARNS */
    fairsem_ticket_claim(&ticket, &units);                              /* WARNS */
    fairsem_ticket_return(&ticket);
    fairsem_shared_open(&handle, NULL, 0, 0, NULL);                     /* WARNS */
    fairsem_shared_close(handle);
    fairsem_shared_unlink("/x");
    fairsem_shared_acquire(handle, 1);                                  /* WARNS */
    fairsem_shared_tryacquire(handle, 1);                               /* WARNS */
    fairsem_shared_acquire_for(handle, 1, 1);                           /* WARNS */
    fairsem_shared_acquire_until(handle, 1, CLOCK_REALTIME, &at);       /* WARNS */
    fairsem_shared_acquire_with(handle, 1, NULL);                       /* WARNS */
    fairsem_shared_release(handle, 1);
    fairsem_shared_set_units(handle, 1);
    fairsem_shared_keep_on_exec(handle, true);                          /* WARNS */
    fairsem_shared_available(handle);
    fairsem_shared_waiters(handle);
    fairsem_shared_stat(handle, &shared_stat);                          /* WARNS */
    fairsem_shared_users(handle, users, &count);                        /* WARNS */
    fairsem_shared_dump(handle, stdout);
}
_EOF

cat > "$work/null.c" << '_EOF'
#include "objects.h"
#define IS (void)!      /* a result that is used */
void all(void)
{
    IS fairsem_init(NULL, 1, NULL);                                     /* WARNS */
    IS fairsem_init(&sem, 1, NULL);
    IS fairsem_destroy(NULL);                                           /* WARNS */
    IS fairsem_new(NULL, 1, NULL);                                      /* WARNS */
    IS fairsem_new(&created, 1, NULL);
    fairsem_free(NULL);
    IS fairsem_acquire(NULL, 1);                                        /* WARNS */
    IS fairsem_tryacquire(NULL, 1);                                     /* WARNS */
    IS fairsem_tryacquire_upto(NULL, 1);                                /* WARNS */
    IS fairsem_release(NULL, 1);                                        /* WARNS */
    IS fairsem_acquire_for(NULL, 1, 1);                                 /* WARNS */
    IS fairsem_acquire_until(NULL, 1, CLOCK_REALTIME, &at);             /* WARNS */
    IS fairsem_acquire_until(&sem, 1, CLOCK_REALTIME, NULL);
    IS fairsem_token_init(NULL);                                        /* WARNS */
    IS fairsem_token_init(&token);
    IS fairsem_token_destroy(NULL);                                     /* WARNS */
    IS fairsem_token_cancel(NULL, 0);                                   /* WARNS */
    IS fairsem_token_reason(NULL);                                      /* WARNS */
    IS fairsem_acquire_with(NULL, 1, NULL);                             /* WARNS */
    IS fairsem_acquire_with(&sem, 1, NULL);
    IS fairsem_acquire_all(NULL, 0, NULL);
    IS fairsem_acquire_all(requests, 1, NULL);
    IS fairsem_release_all(NULL, 0);
    IS fairsem_capacity(NULL);                                          /* WARNS */
    IS fairsem_set_capacity(NULL, 1);                                   /* WARNS */
    IS fairsem_consume(NULL, 1);                                        /* WARNS */
    IS fairsem_close(NULL, 0);                                          /* WARNS */
    IS fairsem_closed(NULL);                                            /* WARNS */
    IS fairsem_drain(NULL, 1, NULL);                                    /* WARNS */
    IS fairsem_drain(&sem, 1, NULL);
    IS fairsem_available(NULL);                                         /* WARNS */
    IS fairsem_waiters(NULL);                                           /* WARNS */
    IS fairsem_would_block(NULL, 1);                                    /* WARNS */
    IS fairsem_stat(NULL, &stat);                                       /* WARNS */
    IS fairsem_stat(&sem, NULL);                                        /* WARNS */
    IS fairsem_stat_interval(NULL, &stat);                              /* WARNS */
    IS fairsem_stat_interval(&sem, NULL);                               /* WARNS */
    IS fairsem_dump(NULL, stdout);                                      /* WARNS */
    IS fairsem_dump(&sem, NULL);                                        /* WARNS */
    IS fairsem_units_acquire(NULL, &sem, 1, NULL);                      /* WARNS */
    IS fairsem_units_acquire(&units, NULL, 1, NULL);                    /* WARNS */
    IS fairsem_units_acquire(&units, &sem, 1, NULL);
    IS fairsem_units_tryacquire(NULL, &sem, 1);                         /* WARNS */
    IS fairsem_units_tryacquire(&units, NULL, 1);                       /* WARNS */
    IS fairsem_units_adopt(NULL, &sem, 1);                              /* WARNS */
    IS fairsem_units_adopt(&units, NULL, 1);                            /* WARNS */
    IS fairsem_units_release(NULL);                                     /* WARNS */
    IS fairsem_units_return(NULL, 1);                                   /* WARNS */
    IS fairsem_units_split(NULL, 1, &more);                             /* WARNS */
    IS fairsem_units_split(&units, 1, NULL);                            /* WARNS */
    IS fairsem_units_merge(NULL, &more);                                /* WARNS */
    IS fairsem_units_merge(&units, NULL);                               /* WARNS */
    IS fairsem_units_forget(NULL);                                      /* WARNS */
    IS fairsem_with(NULL, 1, nothing, NULL);                            /* WARNS */
    IS fairsem_with(&sem, 1, NULL, NULL);                               /* WARNS */
    IS fairsem_with(&sem, 1, nothing, NULL);
    IS fairsem_ticket_take(NULL, &sem, 1, 0, NULL, NULL);               /* WARNS */
    IS fairsem_ticket_take(&ticket, NULL, 1, 0, NULL, NULL);            /* WARNS */
    IS fairsem_ticket_take(&ticket, &sem, 1, 0, NULL, NULL);
    IS fairsem_ticket_state(NULL);                                      /* WARNS */
    IS fairsem_ticket_wait(NULL, NULL);                                 /* WARNS */
    IS fairsem_ticket_wait(&ticket, NULL);
    IS fairsem_ticket_claim(NULL, &units);                              /* WARNS */
    IS fairsem_ticket_claim(&ticket, NULL);                             /* WARNS */
    IS fairsem_ticket_return(NULL);                                     /* WARNS */
    IS fairsem_shared_open(NULL, "/x", 0, 0, NULL);                     /* WARNS */
    IS fairsem_shared_open(&handle, NULL, 0, 0, NULL);
    IS fairsem_shared_close(NULL);                                      /* WARNS */
    IS fairsem_shared_unlink(NULL);                                     /* WARNS */
    IS fairsem_shared_acquire(NULL, 1);                                 /* WARNS */
    IS fairsem_shared_tryacquire(NULL, 1);                              /* WARNS */
    IS fairsem_shared_acquire_for(NULL, 1, 1);                          /* WARNS */
    IS fairsem_shared_acquire_until(NULL, 1, CLOCK_REALTIME, NULL);     /* WARNS */
    IS fairsem_shared_acquire_until(handle, 1, CLOCK_REALTIME, NULL);
    IS fairsem_shared_acquire_with(NULL, 1, NULL);                      /* WARNS */
    IS fairsem_shared_acquire_with(handle, 1, NULL);
    IS fairsem_shared_release(NULL, 1);                                 /* WARNS */
    IS fairsem_shared_set_units(NULL, 1);                               /* WARNS */
    IS fairsem_shared_keep_on_exec(NULL, true);                         /* WARNS */
    IS fairsem_shared_available(NULL);                                  /* WARNS */
    IS fairsem_shared_waiters(NULL);                                    /* WARNS */
    IS fairsem_shared_stat(NULL, &shared_stat);                         /* WARNS */
    IS fairsem_shared_stat(handle, NULL);                               /* WARNS */
    IS fairsem_shared_users(NULL, users, &count);                       /* WARNS */
    IS fairsem_shared_users(handle, users, NULL);                       /* WARNS */
    IS fairsem_shared_dump(NULL, stdout);                               /* WARNS */
    IS fairsem_shared_dump(handle, NULL);                               /* WARNS */
}
_EOF

# glibc does not warn about an ignored result of these functions.
cat > "$work/posix.c" << '_EOF'
#include <fairsem/posix.h>
#include <stddef.h>
static sem_t sem;
static struct timespec at;
static int value;
void all(void);
void all(void)
{
    sem_init(&sem, 0, 1);
    sem_wait(&sem);
    sem_trywait(&sem);
    sem_timedwait(&sem, &at);
    sem_clockwait(&sem, CLOCK_REALTIME, &at);
    sem_post(&sem);
    sem_getvalue(&sem, &value);
    sem_destroy(&sem);
    sem_open("/x", 0);                                                  /* WARNS */
    sem_close(&sem);
    sem_unlink("/x");
    sem_init(&sem, 1, 1);                                               /* WARNS */
    sem_init(&sem, value, 1);
    sem_init(NULL, 0, 1);                                               /* WARNS */
    sem_wait(NULL);                                                     /* WARNS */
    sem_trywait(NULL);                                                  /* WARNS */
    sem_timedwait(NULL, &at);                                           /* WARNS */
    sem_timedwait(&sem, NULL);                                          /* WARNS */
    sem_clockwait(NULL, CLOCK_REALTIME, &at);                           /* WARNS */
    sem_clockwait(&sem, CLOCK_REALTIME, NULL);                          /* WARNS */
    sem_post(NULL);                                                     /* WARNS */
    sem_getvalue(NULL, &value);                                         /* WARNS */
    sem_getvalue(&sem, NULL);                                           /* WARNS */
    sem_destroy(NULL);                                                  /* WARNS */
    sem_open(NULL, 0);                                                  /* WARNS */
    sem_close(NULL);                                                    /* WARNS */
    sem_unlink(NULL);                                                   /* WARNS */
}
_EOF

cat > "$work/classes.cc" << '_EOF'
#include <fairsem.hpp>
using namespace std::chrono;
void all(fairsem::semaphore &sem, fairsem::units &units, fairsem::token &token);
void all(fairsem::semaphore &sem, fairsem::units &units, fairsem::token &token)
{
    const fairsem::wait_options how;
    const auto soon = steady_clock::now() + 1s;

    sem.acquire();
    sem.acquire(1, how);
    sem.release();
    sem.try_acquire();                                                  /* WARNS */
    sem.try_acquire_upto(2);                                            /* WARNS */
    sem.try_acquire_for(1s);                                            /* WARNS */
    sem.try_acquire_for(1s, 1, how);                                    /* WARNS */
    sem.try_acquire_until(soon);                                        /* WARNS */
    sem.acquire_future();                                               /* WARNS */
    sem.consume(1);
    sem.set_capacity(2);
    sem.close();
    sem.drain(2);
    sem.drain_for(1s, 2);                                               /* WARNS */
    sem.available();
    sem.dump(stdout);
    units.release();
    units.split(1);                                                     /* WARNS */
    units.merge(fairsem::units(sem));
    units.forget();
    token.cancel();
    fairsem::acquire_all({ { sem, 1 } });                               /* WARNS */
    fairsem::try_acquire_all_for(1s, { { sem, 1 } });                   /* WARNS */
#if defined(__cpp_lib_jthread)
    const std::stop_token stop;
    sem.acquire(stop);                                                  /* WARNS 20 */
    sem.try_acquire_for(stop, 1s);                                      /* WARNS 20 */
    sem.try_acquire_until(stop, soon);                                  /* WARNS 20 */
#endif
#if defined(__cpp_lib_coroutine)
    sem.async_acquire();                                                /* WARNS 20 */
#endif
}
_EOF

# ---------------------------------------------------------------- compare
# All functions are in the two lists, so a new one must be decided about.
sed -n 's/^FAIRSEM_API .*[ *]\(fairsem_[a-z0-9_]*\)(.*/\1/p' "$include/fairsem.h" \
  "$include/fairsem/shared.h" | sort > "$work/functions"
for list in ignored null; do
  grep -o 'fairsem_[a-z_]*(' "$work/$list.c" | tr -d '(' | sort -u > "$work/listed"
  # These two take no pointer.
  missing=$(comm -23 "$work/functions" "$work/listed" | grep -v -e _version -e _strerror)
  [ -z "$missing" ] || fail "not in $list.c: $missing"
done

# warns COMPILER STANDARD FILE - it warns about the marked lines of the file, and no others.
warns() {
  compiler=$1 standard=$2 file=$3 marks=WARNS
  case $3:$2 in
    *.c:*++*) language=c++ ;;
    *.cc:*) language=c++ ;;
    *) language=c ;;
  esac
  knows_standard "$compiler" "$language" "$standard" || return 0
  # Marked "20": in C++20, if the compiler's library has them.
  # shellcheck disable=SC2086
  if ! printf '#if __cplusplus >= 202002L\n#include <version>\n#endif
    #if !defined(__cpp_lib_jthread) || !defined(__cpp_lib_coroutine)\n#error\n#endif\n' |
    $compiler "-std=$standard" -x "$language" -fsyntax-only - 2> /dev/null; then
    marks='WARNS \*'
  fi
  # gcc looks for unused results when it generates code.
  # shellcheck disable=SC2086
  $compiler "-std=$standard" -D_GNU_SOURCE -x "$language" -Wall -Wextra -Wpedantic \
    -O1 -I"$include" -I"$work" -c "$work/$file" -o "$work/object" > "$work/said" 2>&1
  grep -n "$marks" "$work/$file" | cut -d : -f 1 > "$work/expected"
  # The names of POSIX are macros: gcc says in a note where they are used.
  sed -n -e 's/^[^ ]*'"$file"':\([0-9]*\):.* warning: .*-W\(unused-result\|nonnull\|attribute-warning\|user-defined-warnings\)\].*/\1/p' \
    -e 's/^ *inlined from .* at [^ ]*'"$file"':\([0-9]*\):.*/\1/p' \
    -e 's/^[^ ]*'"$file"':\([0-9]*\):.* note: in expansion of macro .*/\1/p' \
    "$work/said" | sort -nu > "$work/warned"
  if ! diff "$work/expected" "$work/warned" > "$work/diff"; then
    fail "$compiler -std=$standard $file: missing (<) or surplus (>) warnings for these lines:"
    cat "$work/diff"
  elif grep -e 'error: ' -e 'warning: ' "$work/said" |
    grep -v -e '-Wunused-result\]' -e '-Wnonnull\]' -e 'it fails with ENOSYS'; then
    fail "$compiler -std=$standard $file: other warnings"
  else
    echo "ok: $compiler -std=$standard $file, $(wc -l < "$work/warned") warnings"
  fi
}

# one_error COMPILER STANDARD HEADER - it says one thing, and that clearly.
one_error() {
  # shellcheck disable=SC2086 # a compiler may be several words
  if echo "#include <$3>" | $1 "-std=$2" -Wall -Wextra -Wpedantic -I"$include" -x c++ \
    -fsyntax-only - > "$work/said" 2>&1 ||
    [ "$(grep -c -e 'error: ' -e 'warning: ' "$work/said")" -ne 1 ] ||
    ! grep -q 'error: .*needs C++' "$work/said"; then
    fail "$1 -std=$2 $3: not one clear error:"
    cat "$work/said"
  fi
}

# A compiler without these warnings has nothing to show.
those_that_warn() {
  while read -r compiler; do
    $compiler --version 2> /dev/null | grep -qi -e gcc -e 'g++' -e clang -e 'Free Software' &&
      echo "$compiler"
  done
}

each_compiler "$CC" gcc clang | those_that_warn > "$work/c"
each_compiler "$CXX" g++ clang++ | those_that_warn > "$work/cxx"
while read -r compiler; do
  for standard in c11 c2x c23; do
    for file in ignored.c null.c posix.c; do
      warns "$compiler" "$standard" "$file"
    done
  done
done < "$work/c"
while read -r compiler; do
  for standard in c++11 c++17 c++20; do
    for file in ignored.c null.c posix.c; do
      warns "$compiler" "$standard" "$file"
    done
  done
  warns "$compiler" c++17 classes.cc
  warns "$compiler" c++20 classes.cc
  tried=0
  for header in "$include/fairsem.hpp" "$include"/fairsem/*.hpp; do
    one_error "$compiler" c++14 "${header#"$include/"}"
    tried=$((tried + 1))
  done
  one_error "$compiler" c++17 fairsem/coroutine.hpp
  echo "tried: $compiler, $tried headers before their standard"
done < "$work/cxx"
[ -s "$work/c" ] || [ -s "$work/cxx" ] || skip "there is no compiler"
[ -s "$work/cxx" ] || not_tried "C++: there is no compiler"
exit "$status"
