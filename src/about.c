/* SPDX-License-Identifier: MIT */
/* about.c - what the library says of itself: its version, and its results in words. */
#include "fairsem.h"

#include <errno.h>

int fairsem_version(void)
{
    return FAIRSEM_VERSION_NUMBER;
}

const char *fairsem_strerror(int error)
{
    switch (error) {
    case 0:               return "success";
    case E2BIG:           return "more units than the semaphore can ever have";
    case EAGAIN:          return "would have to wait";
    case EALREADY:        return "closed or canceled before";
    case EBUSY:           return "in use";
    case ECANCELED:       return "canceled";
    case EINPROGRESS:     return "in the queue";
    case EINTR:           return "interrupted by a signal handler";
    case EINVAL:          return "invalid argument";
    case EIO:             return "the file has an error";
    case ENOBUFS:         return "the queue is full";
    case ENOMEM:          return "out of memory";
    case ENOSYS:          return "not on this system";
    case ENOTSUP:         return "not supported on this system";
    case EOVERFLOW:       return "more units than there can be";
    case ESHUTDOWN:       return "the semaphore was closed";
    case ETIMEDOUT:       return "timed out";
    default:              return "another error";
    }
}
