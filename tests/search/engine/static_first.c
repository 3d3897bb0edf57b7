/* SPDX-License-Identifier: MIT */
/*
 * static_first.c - marks the beginning of the library's static variables.  build.sh links this file before the
 * library, and the linker places variables in the order of its command line.
 */
_Alignas(64) char xp_data_first[64] = { 1 };
_Alignas(64) char xp_bss_first[64];
