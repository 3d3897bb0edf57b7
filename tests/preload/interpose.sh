#!/bin/sh
# SPDX-License-Identifier: MIT
# interpose.sh - fairsem-run makes a program's semaphores fair, passes on those that it must not
# change, reports when it cannot, and counts right.
#
# The program is tests/preload/interposed.c, which does not use this library.  Nothing here depends on
# the speed of the machine.
set -u

# Under nohup all programs below would ignore SIGHUP, in a background command of a shell SIGINT and
# SIGQUIT, and a shell cannot change that.
ignores_signals() { grep -q '^SigIgn:.*[1-79a-f]$' /proc/self/status; }
if ignores_signals && env --default-signal=HUP,INT,QUIT true 2> /dev/null; then
  exec env --default-signal=HUP,INT,QUIT sh "$0" "$@"
fi
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${top_builddir:=$PWD}"
. "$top_srcdir/tests/support/script.sh"
run=$top_builddir/fairsem-run
module=$top_builddir/.libs/fairsem-interpose.so
program=$top_builddir/tests/preload/interposed

if [ ! -x "$run" ] || [ ! -f "$module" ]; then
  skip "fairsem-run was not built (--disable-shared, or a sem_t that is too small)"
fi
[ -x "$program" ] || skip "tests/preload/interposed was not built (make check builds it)"
case "${CC-} ${CFLAGS-}" in
  *-fsanitize*) not_here "a sanitizer's runtime must be loaded first" && exit 77 ;;
esac
case $module in
  *[\ :]*) not_here "a path with a space or a colon cannot be preloaded" && exit 77 ;;
esac
if [ "${FAIRSEM_TESTS_EMULATED-}" = other-order ]; then
  not_here "the emulated machine has no mutexes with priority inheritance"
  exit 77
fi
mkdir "$work/tmp" || exit 99
TMPDIR=$work/tmp FAIRSEM_MODULE=$module
export TMPDIR FAIRSEM_MODULE
unset LD_PRELOAD FAIRSEM_STATS_FILE
# shellcheck disable=SC3045 # where there is no such limit, there may be a core file
ulimit -c 0 2> /dev/null
# yes: the programs are for another machine than the shell and all other commands.
emulated=${FAIRSEM_TESTS_EMULATED:+yes}
# yes: the programs count the lines that run, and write that down when they end.
case ${CFLAGS-} in
  *--coverage*) counting=yes ;;
  *) counting=no ;;
esac

# expect STATUS WHAT COMMAND... - its output goes to $work/out and $work/err.
expect() {
  expected=$1 what=$2
  shift 2
  # The shell reports signals, too, but not to the same stderr.
  { ("$@") > "$work/out" 2> "$work/err"; result=$?; } 2> "$work/shell"
  if [ "$emulated" = yes ]; then
    sed -i '/^qemu: uncaught target signal/d' "$work/err"
  fi
  if [ "$result" -eq "$expected" ]; then
    echo "ok: $what"
  else
    fail "$what: exit status $result, not $expected: $*"
    return 1
  fi
}

# says FILE TEXT WHAT
says() {
  if grep -q -e "$2" "$work/$1"; then
    echo "ok: $3"
  else
    fail "$3: found no '$2' in its output"
  fi
}

# refuses STATUS TEXT WHAT COMMAND... - with a message of fairsem-run that contains TEXT.
refuses() {
  wanted=$1 text=$2 about=$3
  shift 3
  expect "$wanted" "$about" "$@" && says err "^fairsem-run: .*$text" "$about: says why"
}

# behaves BEHAVIOR [ARGUMENT] - with status 77 the program has printed why it cannot be tried here.
behaves() {
  "$run" "$program" "$@" > "$work/out" 2> "$work/err"
  result=$?
  if [ "$result" -eq 77 ]; then
    not_here "$1, $(tail -n 1 "$work/out")"
    return
  fi
  if [ "$result" -eq 0 ]; then
    echo "ok: $1"
  else
    fail "$1: exit status $result"
  fi
  sed 's/^/    /' "$work/out"
  [ ! -s "$work/err" ] || fail "$1: there is something on stderr"
}

# ---------------------------------------------------------------- behaviors
for behavior in fifo eintr eintr-awake fork-in-handler cancel handler-post fork-child vfork-exec unmap late-post \
  destroy-with-waiters destroyed copy-unused copies copies-of-destroyed not-libcs never-destroy \
  static-zero pshared constructor \
  overflow hog queued-signals actions jumps signals-without-memory stop-the-world \
  shared-all-the-same nonsense static-destructor use-cells-again no-descriptors sandbox \
  deadlines no-memory generations raw-fork signal-in-child eintr-destroyed \
  faults never-destroyed cells-used-again mixed-kinds \
  fetched-signals overflows without-tgkill; do
  behaves "$behavior"
done

behaves interrupts 200
behaves holds 4,2000
# stepped: a signal before each instruction of a call.  met: another thread uses the semaphore there.
steps=yes
for stepped in stepped met; do
  if [ "$counting" = yes ]; then
    not_here "$stepped: most of the instructions would be those that count"
    continue
  fi
  "$run" "$top_builddir/tests/preload/$stepped" > "$work/out" 2> "$work/err"
  case $? in
    0) echo "ok: $stepped, each instruction of a call" && sed 's/^/    /' "$work/out" ;;
    77) not_here "$stepped, $(sed -n '$s/^not here: //p' "$work/out")" && steps=no ;;
    *) fail "$stepped" ;;
  esac
done
[ "$counting" = yes ] || [ "$steps" = no ] ||
  expect 0 "met, as libc has it" "$top_builddir/tests/preload/met"
expect 0 "actions, without fairsem-run" "$program" actions
for behavior in mixed-kinds fetched-signals overflows without-tgkill; do
  expect 0 "$behavior, as libc has it" "$program" $behavior || [ "$result" -eq 77 ]
done
"$program" in-sandbox > "$work/out" 2>&1
[ $? -eq 77 ] || expect 0 "sandbox, as libc has it" "$program" in-sandbox

for behavior in inversion forked-priority priorities made-real-time; do
  "$run" "$program" "$behavior" > "$work/out" 2> "$work/err"
  case $? in
    0) echo "ok: $behavior" ;;
    77) not_here "$behavior, without the right to real-time priorities" ;;
    *) fail "$behavior" ;;
  esac
done

has_named=yes
"$program" named > "$work/out" 2>&1
if [ $? -eq 77 ]; then
  has_named=no
  not_here "named, which fails here without fairsem-run, too"
else
  expect 0 "named" "$run" "$program" named
fi
expect 23 "exit in a thread while others wait" "$run" "$program" exit-in-thread

# Without fairsem-run the result must differ.
if "$program" not-libcs > "$work/out" 2>&1; then
  fail "without fairsem-run the same program gives the same result"
else
  echo "ok: without fairsem-run the same program uses libc's semaphores"
fi

# ---------------------------------------------------------------- a module that comes and goes
cat > "$work/module.c" << '_EOF'
#include <semaphore.h>

int use_semaphores(sem_t *other);
static sem_t own;

__attribute__((constructor)) static void begin(void)
{
    sem_init(&own, 0, 1);
}

__attribute__((destructor)) static void end(void)
{
    sem_destroy(&own);
}

int use_semaphores(sem_t *other)
{
    return sem_wait(&own) != 0 || sem_trywait(&own) == 0 || sem_post(other) != 0;
}
_EOF
# shellcheck disable=SC2086 # a compiler and flags are lists
if $CC ${CFLAGS-} -fPIC -shared "$work/module.c" -o "$work/module.so" -pthread \
  > "$work/log" 2>&1; then
  expect 0 "dlopen and dlclose" "$run" "$program" dlopen "$work/module.so"
  has_module=yes
else
  not_tried "dlopen, without a shared object"
  has_module=no
fi

# ---------------------------------------------------------------- libc's functions beside ours
cat > "$work/other.c" << '_EOF'
#include <semaphore.h>
#include <string.h>

int other_post(sem_t *sem) { return sem_post(sem); }
int other_wait(sem_t *sem) { return sem_wait(sem); }
int other_try(sem_t *sem) { return sem_trywait(sem); }

int other_value(sem_t *sem)
{
    int value = -1;

    return sem_getvalue(sem, &value) == 0 ? value : -1;
}

void *address_of_post(void)
{
    int (*post)(sem_t *) = sem_post;
    void *address;

    memcpy(&address, &post, sizeof address);
    return address;
}
_EOF
# shellcheck disable=SC2086 # a compiler and flags are lists
if [ "$has_module" = yes ] && [ "$emulated" != yes ] &&
  $CC ${CFLAGS-} -fPIC -shared "$work/other.c" -o "$work/other.so" -pthread > "$work/log" 2>&1; then
  for how in bound-deeply in-namespace; do
    expect 0 "$how, as libc has it" "$program" $how "$work/other.so"
    expect 0 "$how" "$run" "$program" $how "$work/other.so"
  done
else
  not_tried "two copies of sem_post for one sem_t"
fi

# ---------------------------------------------------------------- in the middle of sigaction()
# shellcheck disable=SC2086 # a compiler and flags are lists
if [ "$emulated" != yes ] && $CC ${CFLAGS-} -fPIC -shared \
  "$top_srcdir/tests/preload/sigaction_hook.c" -o "$work/hook.so" -ldl > "$work/log" 2>&1; then
  expect 0 "interrupted actions, as libc has them" env LD_PRELOAD="$work/hook.so" "$program" \
    interrupted-actions
  expect 0 "interrupted actions" env LD_PRELOAD="$module:$work/hook.so" "$program" \
    interrupted-actions
else
  not_tried "interrupted actions, for want of a shared object"
fi

# ---------------------------------------------------------------- the runner
expect 0 "--check" "$run" --check && says out "active: $module" "--check names the module"
expect 0 "--help" "$run" --help && says out '^usage: fairsem-run' "--help prints the usage"
expect 0 "--version" "$run" --version
version=$(sed -n 's/^#define FAIRSEM_VERSION_STRING "\(.*\)"/\1/p' "$top_srcdir/include/fairsem.h")
if [ "$(cat "$work/out")" = "fairsem-run $version" ]; then
  echo "ok: --version is that of the header"
else
  fail "--version is not $version"
fi
refuses 125 'unrecognized option.*fair' "unknown option" "$run" --fair "$program" exit 0
refuses 125 'unrecognized option.*fair' "unknown option after another" "$run" --stats --fair true
refuses 125 'option.*check.* allow' "an argument that an option does not take" "$run" --check=1
refuses 125 'no program' "no program" "$run" && says err "^Try '" "no program: says how to get help"
refuses 125 'no program' "no program after an option" "$run" --stats
refuses 125 'no program' "no program after --" "$run" --
for time in '' 0ms 10 -1ms 10m '10 ms' nanms 1e30s; do
  refuses 125 'not a time' "--bypass=$time" "$run" --bypass="$time" true
done
refuses 125 'requires an argument' "--bypass without a time" "$run" --bypass
refuses 125 '--check runs no program' "--check with a program" "$run" --check true
expect 0 "an abbreviated option" "$run" --vers && says out '^fairsem-run [0-9]' "it is --version"
expect 7 "-- ends the options" "$run" --stats="$work/dashes" -- "$program" exit 7
expect 0 "options after the program are its own" "$run" echo --help --version -- --stats=x &&
  says out '^--help --version -- --stats=x$' "the program gets them"
expect 0 "--stats takes no separate argument" "$run" --stats echo and-runs &&
  says out '^and-runs$' "the next argument is the program"
# shellcheck disable=SC2016 # not for this shell
[ ! -c /dev/full ] ||
  refuses 125 'standard output' "--help that cannot be written" sh -c '"$0" --help > /dev/full' "$run"
refuses 125 'cannot be loaded' "no module" env FAIRSEM_MODULE=/nonexistent "$run" "$program" exit 0
refuses 125 'cannot be loaded' "no module, --check" env FAIRSEM_MODULE=/nonexistent "$run" --check
refuses 125 'space or a colon' "a module with a colon" env FAIRSEM_MODULE=/a:b "$run" "$program" \
  exit 0
# It has a sem_wait, and makes libc's semaphores.
cat > "$work/almost.c" << '_EOF'
#include <semaphore.h>

int sem_wait(sem_t *sem)
{
    return sem_trywait(sem);
}
_EOF
# shellcheck disable=SC2086 # a compiler and flags are lists
if [ "$has_module" = yes ] && $CC ${CFLAGS-} -fPIC -shared "$work/almost.c" \
  -o "$work/almost.so" -pthread > "$work/log" 2>&1; then
  refuses 125 'is not active' "a module that makes other semaphores, --check" \
    env FAIRSEM_MODULE="$work/almost.so" "$run" --check
fi
# Another shared object is no module of ours, though it finds a sem_wait, in libc.
if [ "$has_module" = yes ]; then
  refuses 125 '' "a module that is not ours" \
    env FAIRSEM_MODULE="$work/module.so" "$run" "$program" exit 0
fi
refuses 125 '' "a file for --stats that cannot be made" \
  "$run" --stats=/nonexistent/file "$program" exit 0

if [ -c /dev/full ]; then
  refuses 125 '/dev/full: No space' "a file for --stats that is full" \
    "$run" --stats=/dev/full "$program" exit 0
fi
expect 0 "--stats without TMPDIR" env -u TMPDIR "$run" --stats="$work/stats" "$program" exit 0

refuses 127 'No such file' "not found, a path" "$run" /nonexistent/program
refuses 127 'No such file' "not found, a name" "$run" there-is-no-such-program-anywhere
refuses 127 'No such file' "not found, --stats" "$run" --stats /nonexistent/program
echo 'echo hello' > "$work/text"
chmod 644 "$work/text"
refuses 126 'ermission denied' "not executable" "$run" "$work/text"
refuses 126 'ermission denied' "not executable, in PATH" env PATH="$work" "$run" text
refuses 126 '' "a directory" "$run" "$work"
mkdir -p "$work/directory/interposed" || exit 99
expect 0 "a directory in PATH is no program" \
  env PATH="$work/directory:$top_builddir/tests/preload" "$run" interposed exit 0

expect 0 "-- ends the options" "$run" -- "$program" exit 0
expect 0 "a name is searched in PATH" \
  env PATH="$top_builddir/tests/preload:$PATH" "$run" interposed exit 0
# in_directory DIRECTORY COMMAND...
# shellcheck disable=SC2317 # expect calls it
in_directory() {
  cd "$1" || exit 99
  shift
  exec "$@"
}
expect 0 "a name is looked for here, if there is nothing between two colons of PATH" \
  in_directory "$top_builddir/tests/preload" env PATH=/nonexistent::/nowhere "$run" interposed exit 0
if [ "$emulated" != yes ]; then
  expect 0 "a name is looked for without PATH" env -u PATH "$run" true
fi
for code in 0 1 42 125 127 255; do
  expect "$code" "exit status $code" "$run" "$program" exit "$code"
  expect "$code" "exit status $code, --stats" "$run" --stats "$program" exit "$code"
done
if [ "$emulated" = yes ]; then
  not_here "commands and scripts, which need a shell of the emulated machine"
else
  # shellcheck disable=SC2016 # for the other shell
  expect 0 "arguments are passed on as they are" "$run" --stats="$work/stats" sh -c \
    '[ "$#" -eq 3 ] && [ "$1" = "a  b" ] && [ "$2" = "" ] && [ "$3" = "--stats" ]' \
    sh "a  b" "" --stats
fi

# The shell shows a signal as a status above 128, so ends-by checks which one it is.
expect 0 "SIGSEGV" "$program" ends-by 11 "$run" "$program" die segv
expect 0 "SIGSEGV, --stats" "$program" ends-by 11 "$run" --stats "$program" die segv
expect 0 "SIGKILL, --stats" "$program" ends-by 9 "$run" --stats "$program" die kill

# Modules that were preloaded before stay, in front of ours.
if [ "$has_module" = yes ] && [ "$emulated" != yes ]; then
  # shellcheck disable=SC2016 # for the other shell
  expect 0 "what is preloaded already" env LD_PRELOAD="$work/module.so" "$run" sh -c \
    'echo "$LD_PRELOAD"'
  if [ "$(cat "$work/out")" = "$work/module.so:$module" ]; then
    echo "ok: what is preloaded already stays"
  else
    fail "what is preloaded already: LD_PRELOAD is $(cat "$work/out")"
  fi
fi

# A library that keeps the second handler of a signal and lets the first one call it, as Java's
# libjsig does: it must see the program's handlers, not what our module gives the kernel.
cat > "$work/chain.c" << '_EOF'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <string.h>

struct sigaction *second_action(void);
static struct sigaction second;

struct sigaction *second_action(void)
{
    return &second;
}

int sigaction(int sig, const struct sigaction *action, struct sigaction *old)
{
    static int has_first;
    int (*next)(int, const struct sigaction *, struct sigaction *);
    void *found = dlsym(RTLD_NEXT, "sigaction");

    memcpy(&next, &found, sizeof next);
    if (sig == SIGUSR1 && has_first) {
        second = *action;
        return 0;
    }
    has_first |= sig == SIGUSR1;
    return next(sig, action, old);
}
_EOF
cat > "$work/chained.c" << '_EOF'
#include <signal.h>

extern struct sigaction *second_action(void) __attribute__((weak));
static volatile sig_atomic_t first_ran, second_ran;

static void first(int sig)
{
    if (first_ran == 0) {
        first_ran = 1;
        second_action()->sa_handler(sig);
    }
}

static void second(int sig)
{
    second_ran = sig;
}

int main(void)
{
    struct sigaction action = { 0 };

    if (!second_action)
        return 77;
    action.sa_handler = first;
    sigaction(SIGUSR1, &action, 0);
    action.sa_handler = second;
    sigaction(SIGUSR1, &action, 0);
    raise(SIGUSR1);
    return first_ran == 1 && second_ran == SIGUSR1 ? 0 : 1;
}
_EOF
# shellcheck disable=SC2086 # a compiler and flags are lists
if [ "$emulated" != yes ] &&
  $CC ${CFLAGS-} -fPIC -shared "$work/chain.c" -o "$work/chain.so" -ldl > "$work/log" 2>&1 &&
  $CC ${CFLAGS-} "$work/chained.c" -o "$work/chained" > "$work/log" 2>&1 &&
  LD_PRELOAD="$work/chain.so" "$work/chained"; then
  expect 0 "a library that chains handlers" env LD_PRELOAD="$work/chain.so" "$run" "$work/chained"
else
  not_tried "a library that chains handlers, for want of a shared object"
fi

# ---------------------------------------------------------------- sanitizers in the program
# The program is correct, so the sanitizer must report nothing.  If our module came first, it would
# see no semaphores.
cat > "$work/ordered.c" << '_EOF'
#include <pthread.h>
#include <semaphore.h>

static sem_t unit, done;
static int data;

static void *add(void *arg)
{
    for (int i = 0; i < 1000; i++) {
        sem_wait(&unit);
        data++;
        sem_post(&unit);
    }
    sem_post(&done);
    return arg;
}

int main(void)
{
    pthread_t thread[2];

    sem_init(&unit, 0, 1);
    sem_init(&done, 0, 0);
    for (int i = 0; i < 2; i++)
        pthread_create(&thread[i], 0, add, 0);
    for (int i = 0; i < 2; i++)
        sem_wait(&done);
    if (data != 2000)
        return 1;
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], 0);
    return data == 2000 ? 0 : 1;
}
_EOF
for sanitizer in thread address; do
  # shellcheck disable=SC2086 # a compiler and flags are lists
  if $CC ${CFLAGS-} -g -fsanitize=$sanitizer "$work/ordered.c" -o "$work/ordered" -pthread \
    > "$work/log" 2>&1 && "$work/ordered" > "$work/log" 2>&1; then
    expect 0 "a program with -fsanitize=$sanitizer" "$run" "$work/ordered" && {
      [ ! -s "$work/err" ] || fail "-fsanitize=$sanitizer: there is something on stderr"
    }
  else
    not_tried "a program with -fsanitize=$sanitizer, which does not run here"
  fi
done
if has clang && libraries=$(clang -print-runtime-dir 2> /dev/null) &&
  clang -g -fsanitize=address -shared-libsan "$work/ordered.c" -o "$work/ordered" -pthread \
    > "$work/log" 2>&1 && LD_LIBRARY_PATH=$libraries "$work/ordered" > "$work/log" 2>&1; then
  expect 0 "a program of clang -fsanitize=address -shared-libsan" \
    env LD_LIBRARY_PATH="$libraries" "$run" "$work/ordered"
else
  not_tried "a program of clang -shared-libsan, which does not run here"
fi

# Its name is in our own program.  The loader would tell that it does not find it.
expect 3 "fairsem-run under fairsem-run" "$run" "$run" "$program" exit 3 && {
  [ ! -s "$work/err" ] || fail "fairsem-run under fairsem-run: there is something on stderr"
}

# ---------------------------------------------------------------- scripts, and refused programs
printf '#! /bin/sh\nexec "%s" not-libcs\n' "$program" > "$work/script"
chmod 755 "$work/script"
if [ "$emulated" != yes ]; then
  expect 0 "a script" "$run" "$work/script"
  expect 0 "a script, --stats" "$run" --stats="$work/stats" "$work/script"
fi
# As execvp runs it, and therefore env and nice.
printf 'exec "%s" "$@"\n' "$program" > "$work/script"
expect 42 "a script without #!" "$run" "$work/script" exit 42
expect 42 "a script without #!, --stats" "$run" --stats="$work/stats" "$work/script" exit 42

# refuses_static HOW OPTION
refuses_static() {
  # shellcheck disable=SC2086 # a compiler and flags are lists
  if ! $CC ${CFLAGS-} "$2" "$work/static.c" -o "$work/static" > "$work/log" 2>&1 ||
    ! "$work/static"; then
    not_tried "$1, which cannot be built here"
    return
  fi
  refuses 126 'statically' "$1" "$run" "$work/static"
  refuses 126 'statically' "$1, --stats" "$run" --stats "$work/static"
  printf '#! \t%s\n' "$work/static" > "$work/script"
  refuses 126 'statically' "a script for $1" "$run" "$work/script"
}
echo 'int main(void) { return 0; }' > "$work/static.c"
refuses_static "a program linked with -static" -static
refuses_static "a program linked with -static-pie" -static-pie

# A program of musl would fail to resolve glibc's symbols in the module.
if has musl-gcc && musl-gcc "$work/static.c" -o "$work/musl" \
  > "$work/log" 2>&1; then
  refuses 126 'another C library' "a program of musl" "$run" "$work/musl"
  printf '#!%s\n' "$work/musl" > "$work/script"
  refuses 126 'another C library' "a script for a program of musl" "$run" "$work/script"
else
  not_tried "a program of another C library, without musl-gcc"
fi

if [ "$(id -u)" -eq 0 ]; then
  cp "$program" "$work/other-user" && cp "$program" "$work/other-group" || exit 99
  if chown 65534 "$work/other-user" && chmod u+s "$work/other-user" &&
    chgrp 65534 "$work/other-group" && chmod g+s "$work/other-group"; then
    refuses 126 'gains rights' "set-user-ID" "$run" "$work/other-user" exit 0
    refuses 126 'gains rights' "set-group-ID" "$run" "$work/other-group" exit 0
    chown 0 "$work/other-user" && chmod u+s "$work/other-user"
    expect 0 "set-user-ID of the same user" "$run" "$work/other-user" exit 0
  else
    not_here "set-user-ID, which cannot be set in this file system"
  fi
else
  not_here "set-user-ID, which only root can set"
fi

# ---------------------------------------------------------------- statistics
# counts FILE NAME NUMBER... - created, processes, shared, named, foreign, refused, waits.
counts() {
  found=$(awk '
    /^fairsem-run: semaphores created: / { created = $4 + 0; processes = $7 }
    /^passed through/ { shared = $5; named = $7; foreign = $11 }
    /refused with EINVAL:/ { refused = $NF }
    / all$/ { waits = $1 }
    END { print created + 0, processes + 0, shared + 0, named + 0, foreign + 0, refused + 0,
          waits + 0 }' "$work/$1")
  what=$2
  shift 2
  if [ "$found" = "$*" ]; then
    echo "ok: $what: $found"
  else
    fail "$what: counted $found instead of $*"
  fi
}

# stats STATUS BEHAVIOR NUMBER... - check the statistics on stderr and in a file.  A constructor of
# the program creates one semaphore in every process.
stats() {
  ends=$1 behavior=$2
  shift 2
  # shellcheck disable=SC2086 # a behavior may have an argument
  expect "$ends" "--stats $behavior" "$run" --stats "$program" $behavior
  counts err "--stats $behavior" "$@"
  # shellcheck disable=SC2086
  expect "$ends" "--stats=FILE $behavior" "$run" --stats="$work/stats" "$program" $behavior
  counts stats "--stats=FILE $behavior" "$@"
  [ ! -s "$work/err" ] || fail "--stats=FILE $behavior: there is something on stderr"
}
stats 0 fifo 2 1 0 0 0 0 5
stats 0 eintr 2 1 0 0 0 0 1
stats 0 cancel 2 1 0 0 0 0 1
stats 0 vfork-exec 8 4 0 0 0 0 1
stats 0 destroyed 3 1 0 0 0 0 4
stats 0 static-zero 1 1 0 0 8 0 0
stats 0 pshared 1 1 1 0 13 0 0
[ "$has_named" = no ] || stats 0 named 1 1 0 3 4 0 0
stats 0 overflow 2 1 0 0 0 0 0
stats 0 nonsense 5 1 0 0 0 15 0
# However the program ends: none of its own code runs at the end.
stats 23 exit-in-thread 2 1 0 0 0 0 1
stats 137 "die kill" 2 1 0 0 0 0 1
stats 139 "die segv" 2 1 0 0 0 0 1
expect 0 "--stats names the creator of the semaphore" "$run" --stats "$program" fifo &&
  says err 'by interposed[(+]' "--stats: by interposed"
case " ${CFLAGS-} " in
  *' -g'*)
    ! has addr2line || says err 'by interposed[(+].*, interposed[a-z_]*\.c:[0-9]' "--stats: the line of the call"
    ;;
esac
odd=$(printf 'odd\033[1mname')
cp "$program" "$work/$odd"
expect 0 "--stats of a program whose name has a control character" "$run" --stats "$work/$odd" fifo &&
  says err 'by odd \[1mname[(+]' "--stats: nothing that a terminal obeys"

# With --bypass the hog takes its unit back while the victim waits; never without.
for behavior in hog eintr cancel handler-post fork-child destroyed static-destructor deadlines; do
  expect 0 "--bypass $behavior" "$run" --bypass=2ms --stats "$program" "$behavior" &&
    says err '^units taken while others waited, for at most 2.000 ms: [0-9]' "$behavior: counts"
  [ "$behavior" != hog ] || says err ' 2.000 ms: [1-9]' "--bypass: the hog has passed the victim"
done
expect 0 "--stats without --bypass" "$run" --stats "$program" hog &&
  if grep -q 'while others waited' "$work/err"; then fail "--stats: a bypass without --bypass"; fi

# A module that was not loaded has counted nothing.  This program ends before it could.
cat > "$work/early.c" << '_EOF'
#include <unistd.h>

static void leave(void)
{
    _exit(3);
}

__attribute__((section(".preinit_array"), used)) static void (*first)(void) = leave;

int main(void)
{
    return 0;
}
_EOF
# shellcheck disable=SC2086 # a compiler and flags are lists
if $CC ${CFLAGS-} "$work/early.c" -o "$work/early" > "$work/log" 2>&1; then
  expect 3 "--stats, and nothing was counted" "$run" --stats "$work/early" &&
    says err "^fairsem-run: $work/early did not load the interposer" "nothing was counted: says why"
fi

# The same program with libc's semaphores: its waits are measured, and the sum is all there is.
expect 0 "--stats --libc" "$run" --stats --libc "$program" slow-waits &&
  says err '^--libc: they stayed libc' "--libc: says so" &&
  says err '^ *2 .*  all$' "--libc: two waits" &&
  if grep -q ', by ' "$work/err"; then fail "--libc: a semaphore of the module"; fi
refuses 125 'belongs to --stats' "--libc alone" "$run" --libc "$program" exit 0
refuses 125 'without --bypass' "--libc with a bypass" "$run" --stats --libc --bypass=2ms "$program" exit 0

# A program that calls the library itself; the loader does not know the archive, nor strip's result any name.
printf '%s\n' '#include <fairsem/posix.h>' 'int main(void) { sem_t s; return sem_init(&s, 0, 1) + sem_wait(&s); }' \
  > "$work/header.c"
for library in libfairsem.so.0 libfairsem.a; do
  [ -f "$top_builddir/.libs/$library" ] || continue
  # shellcheck disable=SC2086 # a compiler and flags are lists
  $CC ${CFLAGS-} -I"$top_srcdir/include" "$work/header.c" "$top_builddir/.libs/$library" -pthread \
    -Wl,-rpath,"$(cd "$top_builddir/.libs" && pwd)" -s -o "$work/header" || exit 99
  expect 0 "--stats, a program with fairsem/posix.h and $library" "$run" --stats "$work/header" &&
    says err '^the program has libfairsem: ' "fairsem/posix.h and $library: says so"
done
expect 0 "--stats, a program without the library" "$run" --stats "$program" exit 0 &&
  if grep -q libfairsem "$work/err"; then fail "a program without the library: it is told so"; fi

# The times of a wait are those of a clock: two of 50 ms.
stats 0 slow-waits 2 1 0 0 0 0 2
if grep -q '^ *waits  *longest ms  *total ms  *semaphore$' "$work/stats" && awk '
  $1 == 2 { right += $2 >= 50 && $3 >= 100 && $3 >= $2 && $3 <= 2 * $2 + 1 }
  END { exit right != 2 }' "$work/stats"; then
  echo "ok: --stats slow-waits: of all and of the one, the longest wait and the sum"
else
  cat "$work/stats"
  fail "--stats slow-waits: the times are not those of two waits of 50 ms"
fi
# The ten longest waits, the longest first.
stats 0 eleven 12 1 0 0 0 0 11
if awk '/, by / { wrong += count++ > 0 && $2 > last; last = $2 }
  END { exit wrong || count != 10 }' "$work/stats"; then
  echo "ok: --stats eleven: lists the ten longest waits"
else
  cat "$work/stats"
  fail "--stats eleven: these are not the ten longest waits, in order"
fi
# The last of them has no room for statistics of its own, and nobody waits for the others.
stats 0 many 20001 1 0 0 0 0 1
if grep -q ', by ' "$work/stats"; then
  fail "--stats many: a wait for one that has no statistics counts for another"
else
  echo "ok: --stats many: what has no statistics of its own counts for no other"
fi

# prints_when_ended SIGNAL - it is sent to the runner and ends the program, and the numbers are
# still printed.
prints_when_ended() {
  rm -f "$work/ended" "$work/out"
  # Not in the background, where a shell ignores SIGINT.
  (
    until [ -s "$work/out" ] || [ -e "$work/ended" ]; do
      sleep 0.05
    done
    kill -s "$1" "$(cat "$work/runner")"
  ) &
  sender=$!
  # shellcheck disable=SC2016 # for the other shell
  { sh -c 'echo $$ > "$1/runner"; exec "$2" --stats="$1/stats" "$3" sleep' sh "$work" "$run" \
    "$program" > "$work/out" 2> "$work/err"; result=$?; } 2> "$work/shell"
  touch "$work/ended"
  wait "$sender"
  if [ "$result" -gt 128 ] && [ "$(kill -l "$result")" = "$1" ]; then
    echo "ok: $1 with --stats"
    counts stats "--stats=FILE after $1" 1 1 0 0 0 0 0
  else
    fail "$1 with --stats: exit status $result"
  fi
}
# From a daemon's manager, or the program itself.
signals='HUP INT QUIT'
if ignores_signals; then
  not_here "$signals with --stats, of which some are ignored"
  signals=
fi
for signal in $signals TERM USR1 USR2; do
  prints_when_ended "$signal"
done

# If it is killed itself, the program goes on.
if [ "$emulated" != yes ]; then
  mkdir "$work/killed" && mkfifo "$work/gate" && exec 3<> "$work/gate"
  # shellcheck disable=SC2016 # for the other shell
  TMPDIR=$work/killed "$run" --stats sh -c 'echo > "$1/begun"; read -r line < "$1/gate"; echo "$line" > "$1/went-on"' \
    sh "$work" > "$work/out" 2> "$work/err" &
  runner=$!
  await test -s "$work/begun" && kill -KILL "$runner" && wait "$runner" 2> "$work/shell"
  echo on >&3
  if await test -s "$work/went-on"; then
    echo "ok: the program goes on when fairsem-run is killed"
  else
    fail "the program does not go on when fairsem-run is killed"
  fi
fi

# The limit is below the size of the statistics' file: no process is killed for that.
limited_to() {
  # shellcheck disable=SC2086,SC3045 # options; where there is no such limit, there is nothing to try
  ulimit $1 1 2> /dev/null || exit 99
  shift
  exec "$@"
}
(limited_to -f "$run" --stats "$program" exit 0) > "$work/out" 2> "$work/err"
if [ $? -eq 125 ] && grep -q 'no room for statistics' "$work/err"; then
  echo "ok: --stats under a limit for files: says why"
else
  fail "--stats under a limit for files"
fi
if [ "$counting" = yes ]; then
  not_here "--stats under a limit that may be raised: what is counted is larger"
elif (limited_to '-S -f' "$run" --stats="$work/stats" "$program" fsize) > "$work/out" \
  2> "$work/err"; then
  echo "ok: --stats under a limit that may be raised: the program has it"
else
  fail "--stats under a limit that may be raised"
fi

# Some programs start others with SIGCHLD ignored: then there is no child to wait for.  (Some shells
# do not ignore it for a trap.)
ignored='^SigIgn:.*[13579bdf]....$'
if [ "$emulated" != yes ] && has timeout &&
  env --ignore-signal=CHLD grep -q "$ignored" /proc/self/status 2> /dev/null; then
  expect 42 "--stats with SIGCHLD ignored" limited env --ignore-signal=CHLD \
    "$run" --stats="$work/stats" "$program" exit 42
  expect 0 "--check with SIGCHLD ignored" limited env --ignore-signal=CHLD "$run" --check
  expect 0 "--stats: the program has SIGCHLD ignored, too" env --ignore-signal=CHLD \
    "$run" --stats="$work/stats" grep -q "$ignored" /proc/self/status
else
  not_tried "SIGCHLD ignored, without env --ignore-signal"
fi

if [ -z "$(ls -A "$work/tmp")" ]; then
  echo "ok: --stats leaves nothing in TMPDIR"
else
  fail "--stats leaves in TMPDIR: $(ls -A "$work/tmp")"
fi

# ---------------------------------------------------------------- exports
if has nm; then
  nm -D --defined-only "$module" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' |
    sort > "$work/exported"
  sed -n 's/^ *\([_A-Za-z]*\);.*/\1/p' "$top_srcdir/src/preload/interpose.map" | sort > "$work/map"
  if [ -s "$work/map" ] && diff "$work/map" "$work/exported" > "$work/out"; then
    echo "ok: the module exports the $(wc -l < "$work/map") names it replaces, and nothing else"
  else
    fail "the map (<) and the module (>) differ"
  fi
else
  not_tried "exports, without nm"
fi
exit "$status"
