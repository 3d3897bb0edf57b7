/* SPDX-License-Identifier: MIT */
/* t_about.c - fairsem_version() and fairsem_strerror(). */
#include "suite.h"

#include "fairsem.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

START_TEST(the_library_has_the_version_of_the_header)
{
    char string[40];

    snprintf(string, sizeof string, "%d.%d.%d", fairsem_version() / 10000,
             fairsem_version() / 100 % 100, fairsem_version() % 100);
    ck_assert_str_eq(string, FAIRSEM_VERSION_STRING);
    ck_assert_int_eq(fairsem_version(), FAIRSEM_VERSION_NUMBER);
}
END_TEST

/* All results that fairsem.h and fairsem/shared.h name. */
static const int results[] = {
    0, E2BIG, EAGAIN, EALREADY, EBUSY, ECANCELED, EINPROGRESS, EINTR, EINVAL, EIO, ENOBUFS,
    ENOMEM, ENOSYS, ENOTSUP, EOVERFLOW, ESHUTDOWN, ETIMEDOUT,
    EACCES, EBADF, EEXIST, EFBIG, ELOOP, EMFILE, ENAMETOOLONG, ENFILE, ENOENT, ENOLCK, ENOSPC,
    ENOTRECOVERABLE, EPERM, EROFS, EUSERS,
};
enum { RESULTS = sizeof results / sizeof results[0] };

START_TEST(each_result_has_its_own_text)
{
    for (int i = 0; i < RESULTS; i++) {
        ck_assert(strcmp(fairsem_strerror(results[i]), fairsem_strerror(-1)) != 0);
        for (int k = 0; k < i; k++)
            ck_assert(strcmp(fairsem_strerror(results[i]), fairsem_strerror(results[k])) != 0);
    }
}
END_TEST

/* Callers choose any number as a reason, so any number has a text. */
START_TEST(any_other_number_is_another_error)
{
    ck_assert_str_eq(fairsem_strerror(-1), "another error");
    ck_assert_str_eq(fairsem_strerror(4711), "another error");
    ck_assert_str_eq(fairsem_strerror(ENOTTY), "another error");
    ck_assert_ptr_nonnull(strstr(fairsem_strerror(ESHUTDOWN), "semaphore"));
}
END_TEST

int main(void)
{
    RUN_SUITE("about", the_library_has_the_version_of_the_header, each_result_has_its_own_text,
              any_other_number_is_another_error);
}
