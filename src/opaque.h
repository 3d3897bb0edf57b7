/* SPDX-License-Identifier: MIT */
/* opaque.h - a public object of reserved bytes, as the struct that it is inside. */
#ifndef FS_OPAQUE_H
#define FS_OPAQUE_H

/*
 * The compiler must not conclude from the two names of an object that a static initializer
 * written through one of them cannot be read through the other.
 */
#if defined(__GNUC__)
#define FS_MAY_ALIAS __attribute__((may_alias))
#else
#define FS_MAY_ALIAS
#endif

#endif
