/* SPDX-License-Identifier: MIT */
/* static_last.c - and behind them, see static_first.c. */
_Alignas(64) char xp_data_last[64] = { 1 };
_Alignas(64) char xp_bss_last[64];
