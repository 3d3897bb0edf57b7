/* SPDX-License-Identifier: MIT */
/* bare.h - an attribute for functions that replace those of the system (the linker's --wrap). */
#ifndef BARE_H
#define BARE_H

/*
 * No sanitizer may instrument these functions, because the runtimes that clang links statically call them
 * before they are initialized.  The second attribute is for a replacement of syscall(), which reads six
 * arguments, however many there are: without it AddressSanitizer of clang 14 reports that.
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
