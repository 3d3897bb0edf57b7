/* SPDX-License-Identifier: MIT */
/* bare.h - an attribute for functions that replace those of the system (the linker's --wrap). */
#ifndef BARE_H
#define BARE_H

/*
 * No sanitizer may instrument these functions: the runtimes that clang links statically call them before the
 * runtimes are initialized.  no_sanitize("address") is for a replacement of syscall(), which always reads six
 * arguments, even if there are fewer: without this attribute, AddressSanitizer of clang 14 reports the reads.
 */
#if defined(__has_attribute)
#if __has_attribute(disable_sanitizer_instrumentation)
#define BARE __attribute__((disable_sanitizer_instrumentation, no_sanitize("address")))
#endif
#endif
#ifndef BARE
#define BARE __attribute__((no_sanitize_address))
#endif

#endif
