# SPDX-License-Identifier: MIT
# tests/search/model/local.mk - a model for spin; included by ../../local.mk.

EXTRA_DIST += tests/search/model/check.sh tests/search/model/cluster.pml

# PART=1/2 is one half of it; PART is in ../mutants/local.mk.
.PHONY: check-model
check-model:
	$(AM_TESTS_ENVIRONMENT) PART='$(PART)' $(SHELL) $(srcdir)/tests/search/model/check.sh $(SKIPS)
