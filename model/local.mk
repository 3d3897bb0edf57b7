# SPDX-License-Identifier: MIT
# model/local.mk - a model of the protocol for spin; included by ../Makefile.am.

EXTRA_DIST += \
	model/bypass.pml \
	model/check.sh \
	model/fairsem.pml \
	model/faults.pml \
	model/ghosts.pml \
	model/oracle.pml \
	model/repair.pml \
	model/section.pml \
	model/wait.pml

# Without spin the script says so and ends with 77, which is no failure.
.PHONY: check-model
check-model:
	$(AM_TESTS_ENVIRONMENT) $(SHELL) $(srcdir)/model/check.sh || test $$? = 77
