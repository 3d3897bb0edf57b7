/* SPDX-License-Identifier: MIT */
/* base64.h - keys and values, as they stand in etcd's JSON. */
#ifndef CLUSTER_BASE64_H
#define CLUSTER_BASE64_H

#include <stddef.h>

/* The size of the text for so many bytes, with its NUL. */
#define FS_BASE64_SIZE(bytes) (((bytes) + 2) / 3 * 4 + 1)

/* Write the text for n bytes to out. */
void fs_base64_write(const void *bytes, size_t n, char *out);

/* Write the bytes of a text to out, which has 3 / 4 of its size.  How many, or -1: it is none. */
long fs_base64_read(const char *text, size_t n, unsigned char *out);

#endif
