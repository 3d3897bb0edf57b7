# SPDX-License-Identifier: MIT
# tests/search/cores/local.mk - the library's sources on simulated cores; included by tests/local.mk.
# simulator.h explains the simulator, and cells.c has the limits that fairsem must keep.
#
#   make tests/search/cores/cores     the simulator alone; main.c has its options:
#                                     tests/search/cores/cores cores=4,16 threads=3,13,16

test_scripts += tests/search/cores/cells.sh

EXTRA_DIST += \
	tests/search/cores/build.sh \
	tests/search/cores/calibrate.py \
	tests/search/cores/calls.c \
	tests/search/cores/cells.c tests/search/cores/cells.h \
	tests/search/cores/events.c \
	tests/search/cores/explorer.h \
	tests/search/cores/layer.h \
	tests/search/cores/lines.c \
	tests/search/cores/machine.c tests/search/cores/machine.h \
	tests/search/cores/main.c \
	tests/search/cores/peers.c tests/search/cores/peers.h \
	tests/search/cores/scheduler.c \
	tests/search/cores/simulator.h \
	tests/search/cores/sleep.c \
	tests/search/cores/tables.py \
	tests/search/cores/workload.c tests/search/cores/workload.h

.PHONY: tests/search/cores/cores
tests/search/cores/cores:
	$(MKDIR_P) tests/search/cores
	$(AM_TESTS_ENVIRONMENT) $(SHELL) $(srcdir)/tests/search/cores/build.sh $(srcdir)/src $@

clean-local: clean-cores
clean-cores:
	-rm -rf tests/search/cores/*.objects tests/search/cores/cores
