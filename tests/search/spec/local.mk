# SPDX-License-Identifier: MIT
# tests/search/spec/local.mk - the specification of a semaphore, for the models of ../core/ and
# ../fuzz/; included by tests/local.mk.

spec_sources = tests/search/spec/spec.c tests/search/spec/spec.h
EXTRA_DIST += $(spec_sources)
if TESTS_ENABLED
test_programs += tests/search/spec/t_spec_shares
endif
