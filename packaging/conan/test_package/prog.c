/* SPDX-License-Identifier: MIT */
/* prog.c - is the library there, and the one of the header? */
#include <fairsem.h>

static fairsem_t slots = FAIRSEM_INITIALIZER(0);

static void *give(void *arg)
{
    fairsem_release(&slots, 2);
    return arg;
}

int main(void)
{
    pthread_t thread;

    if (fairsem_version() != FAIRSEM_VERSION_NUMBER)
        return 1;
    if (pthread_create(&thread, NULL, give, NULL) != 0 || fairsem_acquire(&slots, 2) != 0)
        return 1;
    return pthread_join(thread, NULL);
}
