/* SPDX-License-Identifier: MIT */
/*
 * faults.h - how often the tests here cause a fault.  `make check` finds what fails at once;
 * `make check-faults` sets FAIRSEM_FAULTS_TIMES, and causes that many times as many.
 */
#ifndef FAULTS_H
#define FAULTS_H

#include <stdlib.h>

static inline int fault_times(int n)
{
    const char *setting = getenv("FAIRSEM_FAULTS_TIMES");
    long times = setting != NULL ? strtol(setting, NULL, 10) : 1;

    return times < 1 ? n : times > 1000 ? n * 1000 : n * (int)times;
}

#endif
