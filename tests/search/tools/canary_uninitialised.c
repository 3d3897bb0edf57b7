/* SPDX-License-Identifier: MIT */
/*
 * canary_uninitialised.c - the library reads attributes of which some were never written; with an
 * argument, all were.
 */
#include <fairsem.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    fairsem_attr_t *volatile attr = malloc(sizeof(fairsem_attr_t));
    fairsem_t sem;
    int error;

    (void)argv;
    if (argc > 1)
        memset(attr, 0, sizeof *attr);
    attr->capacity = 1;
    error = fairsem_init(&sem, 1, attr);
    free(attr);
    return error;
}
