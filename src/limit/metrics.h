/* SPDX-License-Identifier: MIT */
/*
 * metrics.h - the status in the text format of Prometheus.  The format groups samples by metric, but the status
 * is read name by name.  So all samples are collected before the first is printed.
 */
#ifndef LIMIT_METRICS_H
#define LIMIT_METRICS_H

#include "shown.h"

/* Returns 0 or an errno value. */
int  metrics_begin(void);
/* May be called in a child of the process that calls metrics_print(). */
void metrics_add(const struct shown_name *name);
/* `failed` says that a name could not be read.  Returns 0, or an errno value if samples are missing. */
int  metrics_print(bool failed);

#endif
