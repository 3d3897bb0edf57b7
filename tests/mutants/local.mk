# SPDX-License-Identifier: MIT
# tests/mutants/local.mk - seeded faults in src/, each of which some test must
# find; included by ../local.mk.  run.sh says how.
#
#   make check-mutants                        all of them; the table is tests/mutants/table
#   make check-mutants MUTANTS="one another"  some
#   make check-mutants PART=1/10              every tenth
#   make check-shared-mutants                 those of the semaphore between processes

EXTRA_DIST += \
	tests/mutants/abort.txt \
	tests/mutants/acquire.txt \
	tests/mutants/apply.awk \
	tests/mutants/awake.txt \
	tests/mutants/bypass.txt \
	tests/mutants/canaries.txt \
	tests/mutants/checks.txt \
	tests/mutants/fork.txt \
	tests/mutants/grant.txt \
	tests/mutants/limit.txt \
	tests/mutants/owner.txt \
	tests/mutants/posix.txt \
	tests/mutants/queue.txt \
	tests/mutants/run.sh \
	tests/mutants/shared.txt \
	tests/mutants/sleep.txt \
	tests/mutants/ticket.txt
CLEANFILES += tests/mutants/table

.PHONY: check-mutants check-shared-mutants
MUTANTS =
PART = 1/1
check-mutants:
	$(AM_TESTS_ENVIRONMENT) PART='$(PART)' $(SHELL) $(srcdir)/tests/mutants/run.sh $(MUTANTS)

check-shared-mutants:
	$(AM_TESTS_ENVIRONMENT) $(SHELL) $(srcdir)/tests/mutants/run.sh \
	  `sed -n 's/^mutant //p' $(srcdir)/tests/mutants/shared.txt`
