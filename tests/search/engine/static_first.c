/* SPDX-License-Identifier: MIT */
/*
 * static_first.c - marks the beginning of the library's static variables, because the linker places objects in
 * the order of its command line (build.sh).
 */
_Alignas(64) char xp_data_first[64] = { 1 };
_Alignas(64) char xp_bss_first[64];
