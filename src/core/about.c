/* SPDX-License-Identifier: MIT */
/* about.c - the library's version, and its results in words. */
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
    case EACCES:          return "no permission";
    case EAGAIN:          return "would have to wait";
    case EALREADY:        return "closed or canceled before";
    case EBADF:           return "the descriptor of the segment was closed";
    case EBUSY:           return "still in use: a request waits, or the guard or the hold has units";
    case ECANCELED:       return "canceled";
    case EEXIST:          return "a segment of this name exists";
    case EFBIG:           return "larger than files may be";
    case EINPROGRESS:     return "in the queue";
    case EINTR:           return "interrupted by a signal handler";
    case EINVAL:          return "invalid argument";
    case EIO:             return "the file has an error";
    case ELOOP:           return "too many symbolic links";
    case EMFILE:          return "too many descriptors in this process";
    case ENAMETOOLONG:    return "the name is too long";
    case ENFILE:          return "too many open files in the system";
    case ENOBUFS:         return "the queue is full";
    case ENOENT:          return "no segment of this name exists";
    case ENOLCK:          return "no locks left in the system";
    case ENOMEM:          return "out of memory";
    case ENOSPC:          return "no space for the segment";
    case ENOSYS:          return "not on this system";
    case ENOTRECOVERABLE: return "the segment is damaged";
    case ENOTSUP:         return "not supported on this system, or by this version";
    case EOVERFLOW:       return "more than the capacity: some of the units were never taken";
    case EPERM:           return "units that this process does not hold, or no permission";
    case EROFS:           return "a read-only file system";
    case ESHUTDOWN:       return "the semaphore was closed";
    case ETIMEDOUT:       return "timed out";
    case EUSERS:          return "too many processes use the segment";
    default:              return "another error";
    }
}
