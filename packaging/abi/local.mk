# SPDX-License-Identifier: MIT
# packaging/abi/local.mk - the binary interface, on record; included by ../../Makefile.am.

EXTRA_DIST += \
	packaging/abi/1.0.0/aarch64-linux-gnu.abi.gz \
	packaging/abi/1.0.0/x86_64-linux-gnu.abi.gz \
	packaging/abi/check.sh \
	packaging/abi/ignored.suppr

.PHONY: check-abi
check-abi: libfairsem.la
	@$(AM_TESTS_ENVIRONMENT) $(SHELL) $(srcdir)/packaging/abi/check.sh $(ABI) $(SKIPS)
