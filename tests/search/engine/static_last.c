/* SPDX-License-Identifier: MIT */
/* static_last.c - marks the end of the library's static variables, see static_first.c. */
_Alignas(64) char xp_data_last[64] = { 1 };
_Alignas(64) char xp_bss_last[64];
