/* SPDX-License-Identifier: MIT */
/* absent.c - for systems without futexes, or without record locks on shared memory: every call fails. */
#include "fairsem/shared.h"

#include <errno.h>

#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wunused-parameter"
#endif

#define ABSENT(declaration, result) declaration { return (result); }

ABSENT(int fairsem_shared_open(fairsem_shared_t **handle, const char *name, int oflag, mode_t mode,
                               const fairsem_shared_attr_t *attr), ENOSYS)
ABSENT(int fairsem_shared_close(fairsem_shared_t *h), ENOSYS)
ABSENT(int fairsem_shared_unlink(const char *name), ENOSYS)
ABSENT(int fairsem_shared_acquire(fairsem_shared_t *h, int64_t n), ENOSYS)
ABSENT(int fairsem_shared_tryacquire(fairsem_shared_t *h, int64_t n), ENOSYS)
ABSENT(int fairsem_shared_acquire_for(fairsem_shared_t *h, int64_t n, int64_t timeout_ns), ENOSYS)
ABSENT(int fairsem_shared_acquire_until(fairsem_shared_t *h, int64_t n, clockid_t clock,
                                        const struct timespec *deadline), ENOSYS)
ABSENT(int fairsem_shared_acquire_with(fairsem_shared_t *h, int64_t n, const fairsem_wait_t *how), ENOSYS)
ABSENT(int fairsem_shared_release(fairsem_shared_t *h, int64_t n), ENOSYS)
ABSENT(int fairsem_shared_set_units(fairsem_shared_t *h, int64_t units), ENOSYS)
ABSENT(int fairsem_shared_unlink_unused(fairsem_shared_t *h, const char *name, bool kept), ENOSYS)
ABSENT(int fairsem_shared_keep_name(fairsem_shared_t *h), ENOSYS)
ABSENT(int fairsem_shared_keep_on_exec(fairsem_shared_t *h, bool keep), ENOSYS)
ABSENT(int64_t fairsem_shared_available(fairsem_shared_t *h), -1)
ABSENT(int64_t fairsem_shared_waiters(fairsem_shared_t *h), -1)
ABSENT(int fairsem_shared_stat(fairsem_shared_t *h, fairsem_shared_stat_t *stat), ENOSYS)
ABSENT(int fairsem_shared_stat_histogram(fairsem_shared_t *h, uint64_t counts[FAIRSEM_WAIT_BUCKETS]), ENOSYS)
ABSENT(int fairsem_shared_users(fairsem_shared_t *h, fairsem_shared_user_t *users, int *count), ENOSYS)
ABSENT(int fairsem_shared_dump(fairsem_shared_t *h, FILE *file), ENOSYS)
