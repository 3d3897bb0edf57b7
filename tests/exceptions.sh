#!/bin/sh
# SPDX-License-Identifier: MIT
# exceptions.sh - a C++ exception out of a callback reaches the caller of the function that called
# it, and leaves nothing behind: the other callbacks have come, and later ones come.
set -u

: "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}" "${top_builddir:=$PWD}"
cxx=${CXX:-c++}
work=$(mktemp -d "$top_builddir/tests/exceptions.XXXXXX") || exit 99
trap 'rm -rf "$work"' EXIT

cat > "$work/prog.cc" << '_EOF'
#include <fairsem.h>
#include <cerrno>
#include <cstdio>
#include <stdexcept>

static int calls;

static void throws(fairsem_ticket_t *, void *)
{
    calls++;
    throw std::runtime_error("out of a callback");
}

static void counts(fairsem_ticket_t *, void *) { calls++; }

static int failed(const char *what)
{
    std::fprintf(stderr, "FAILED: %s\n", what);
    return 1;
}

/* One release serves three tickets; the callback of the first or the second one throws. */
static int one_throws(int which)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    fairsem_ticket_t ticket[3] = {};
    bool caught = false;
    int state, before;

    calls = 0;
    for (int i = 0; i < 3; i++) {
        if (fairsem_ticket_take(&ticket[i], &sem, 1, 0, i == which ? throws : counts, nullptr)
            != EINPROGRESS)
            return failed("take");
    }
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &before);
    try {
        fairsem_release(&sem, 3);
    } catch (const std::runtime_error &) {
        caught = true;
    }
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state);
    if (!caught)
        return failed("the exception is not caught");
    if (state != PTHREAD_CANCEL_ENABLE)
        return failed("cancellation is still disabled");
    if (calls != 3)
        return failed("not all callbacks have come");
    /* None is taken for running, by this thread or by another. */
    for (int i = 0; i < 3; i++)
        fairsem_ticket_return(&ticket[i]);
    if (fairsem_available(&sem) != 3 || fairsem_acquire(&sem, 3) != 0)
        return failed("units");
    if (fairsem_ticket_take(&ticket[0], &sem, 1, 0, counts, nullptr) != EINPROGRESS
        || fairsem_release(&sem, 1) != 0 || calls != 4)
        return failed("a later callback");
    fairsem_ticket_return(&ticket[0]);
    return 0;
}

int main()
{
    return one_throws(0) + one_throws(1) + one_throws(2);
}
_EOF
library=$top_builddir/.libs/libfairsem.a
[ -f "$library" ] || library=$top_builddir/.libs/libfairsem.so
if ! command -v "${cxx%% *}" > /dev/null 2>&1; then
  echo "skipped: no C++ compiler"
  exit 77
fi
# shellcheck disable=SC2086 # lists
if ! $cxx ${CFLAGS-} -I"$top_srcdir/include" "$work/prog.cc" -o "$work/prog" "$library" -pthread; then
  echo "FAILED: the program does not build"
  exit 1
fi
LD_LIBRARY_PATH=$top_builddir/.libs timeout 60 "$work/prog" || { echo "FAILED: $?"; exit 1; }
echo "ok: exceptions out of callbacks"
