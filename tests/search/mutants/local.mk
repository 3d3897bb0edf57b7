# SPDX-License-Identifier: MIT
# tests/search/mutants/local.mk - seeded faults in src/: some test must find each; included by ../../local.mk.
# generate.py makes the faults by rules.  run.py tries them on the suites that suites.txt assigns to a
# directory, and explains the variables.
#
#   make check-mutants                             400 mutants of all folders, each until a suite finds it
#   make check-mutants FOLDERS="core shared" N=60  60 mutants of some folders of src/; SEED=2 takes others
#   make check-mutants MUTANTS="HASH HASH"         these mutants
#   make check-mutants MUTANTS=ideas               the mutants of ideas.txt, which no rule makes
#   make check-mutants MUTANTS=orders              each memory order of src/core/, relaxed
#   make check-mutants MODE=matrix RESULTS=FILE    each mutant against all suites

EXTRA_DIST += \
	tests/search/mutants/accepted.txt \
	tests/search/mutants/canaries.txt \
	tests/search/mutants/generate.py \
	tests/search/mutants/ideas.txt \
	tests/search/mutants/run.py \
	tests/search/mutants/suites.txt
CLEANFILES += tests/search/mutants/results

.PHONY: check-mutants clean-mutants
MODE = score
# PART=1/2 is one half of a search; ../model/ uses the variable, too.
PART = 1/1
check-mutants:
	$(AM_TESTS_ENVIRONMENT) FOLDERS='$(FOLDERS)' N='$(N)' SEED='$(SEED)' JOBS='$(JOBS)' \
	  PART='$(PART)' RESULTS='$(RESULTS)' ETCD='$(ETCD)' DEEP='$(DEEP)' \
	  LEAST='$(LEAST)' \
	  python3 $(srcdir)/tests/search/mutants/run.py $(MODE) $(MUTANTS)

clean-local: clean-mutants
clean-mutants:
	-rm -rf tests/search/mutants/work
