/* SPDX-License-Identifier: MIT */
/*
 * metrics.h - the status in the text format of Prometheus.  That format groups samples by metric, while the
 * status is read name by name; so samples are collected first.
 */
#ifndef LIMIT_METRICS_H
#define LIMIT_METRICS_H

#include "shown.h"

/* Returns an errno value. */
int  metrics_begin(void);
/* Also works in a child of the process that prints. */
void metrics_add(const struct shown_name *name);
/* failed: a name could not be read.  Returns an errno value if samples are missing. */
int  metrics_print(bool failed);

#endif
