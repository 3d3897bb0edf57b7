/* SPDX-License-Identifier: MIT */
/*
 * static_first.c - what the linker puts before the library's static variables: it takes the
 * objects in the order in which they are named (build.sh).
 */
_Alignas(64) char xp_data_first[64] = { 1 };
_Alignas(64) char xp_bss_first[64];
