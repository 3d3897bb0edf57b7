/* SPDX-License-Identifier: MIT */
/*
 * metrics.h - the status in the text format of Prometheus, in which all samples of a metric stand
 * together, although the names come one after the other.
 */
#ifndef LIMIT_METRICS_H
#define LIMIT_METRICS_H

#include "shown.h"

/* Returns an errno value. */
int  metrics_begin(void);
/* Also in a child of the process that prints. */
void metrics_add(const struct shown_name *name);
/* failed: a name could not be read.  Returns an errno value: samples are missing. */
int  metrics_print(bool failed);

#endif
