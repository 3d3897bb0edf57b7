# SPDX-License-Identifier: MIT
# abi/local.mk - the binary interface, on record; included by ../Makefile.am.

EXTRA_DIST += \
	abi/1.0.0/aarch64-linux-gnu.abi \
	abi/1.0.0/x86_64-linux-gnu.abi \
	abi/check.sh \
	abi/ignored.suppr

.PHONY: check-abi
check-abi: libfairsem.la
	@$(AM_TESTS_ENVIRONMENT) $(SHELL) $(srcdir)/abi/check.sh $(ABI) || test $$? -eq 77
