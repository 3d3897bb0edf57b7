/* SPDX-License-Identifier: MIT */
/* bare.h - functions in the place of a system's (the linker's --wrap). */
#ifndef BARE_H
#define BARE_H

/*
 * For those: the runtimes that clang links statically call them, too, before they are
 * initialized.
 */
#if defined(__has_attribute)
#if __has_attribute(disable_sanitizer_instrumentation)
#define BARE __attribute__((disable_sanitizer_instrumentation))
#endif
#endif
#ifndef BARE
#define BARE
#endif

#endif
