/* SPDX-License-Identifier: MIT */
/* canary_static.c - errors that a static analyzer must find; it is never run. */
#include <stdlib.h>

struct thing {
    int n;
};

int null_pointer(int n);
int null_pointer(int n)
{
    struct thing *thing = NULL;

    if (n > 3)
        thing = NULL;
    return thing->n;
}

int freed_twice(int n);
int freed_twice(int n)
{
    struct thing *thing = malloc(sizeof *thing);

    if (thing == NULL)
        return 0;
    thing->n = n;
    free(thing);
    free(thing);
    return n;
}

int never_freed(int n);
int never_freed(int n)
{
    struct thing *thing = malloc(sizeof *thing);

    if (thing == NULL)
        return 0;
    thing->n = n;
    return thing->n;
}
