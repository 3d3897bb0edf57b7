# SPDX-License-Identifier: MIT
# tests/search/model/local.mk - a model of the protocol for spin; included by ../../local.mk.

EXTRA_DIST += \
	tests/search/model/age.pml \
	tests/search/model/bypass.pml \
	tests/search/model/check.sh \
	tests/search/model/cluster.pml \
	tests/search/model/fairsem.pml \
	tests/search/model/faults.pml \
	tests/search/model/ghosts.pml \
	tests/search/model/oracle.pml \
	tests/search/model/repair.pml \
	tests/search/model/section.pml \
	tests/search/model/wait.pml

# PART=1/2 is one half of it; PART is in ../mutants/local.mk.
# Without spin the script says so and ends with 77, which is no failure.
.PHONY: check-model
check-model:
	$(AM_TESTS_ENVIRONMENT) PART='$(PART)' $(SHELL) $(srcdir)/tests/search/model/check.sh || test $$? = 77
