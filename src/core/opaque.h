/* SPDX-License-Identifier: MIT */
/* opaque.h - access to a public object of reserved bytes as the private struct inside it. */
#ifndef FS_OPAQUE_H
#define FS_OPAQUE_H

/*
 * The public and the private type are two views of one object.  The compiler must not assume that
 * a static initializer of the one is not read through the other.
 */
#if defined(__GNUC__)
#define FS_MAY_ALIAS __attribute__((may_alias))
#else
#define FS_MAY_ALIAS
#endif

#endif
