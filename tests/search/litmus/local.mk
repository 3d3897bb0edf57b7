# SPDX-License-Identifier: MIT
# tests/search/litmus/local.mk - a second opinion about memory orders: litmus tests of the library's
# functions by the axioms of C11, another checker, and the machine code; included by tests/local.mk.
# explorer.h says how it works.
#
#   make check-litmus     all of it, and each order weakened; litmus.sh --all weakens all there are

test_scripts += tests/search/litmus/quick.sh

EXTRA_DIST += \
	tests/search/litmus/all.sh \
	tests/search/litmus/axioms.c \
	tests/search/litmus/build.sh \
	tests/search/litmus/calls.c \
	tests/search/litmus/classics.c \
	tests/search/litmus/execution.h tests/search/litmus/executions.c \
	tests/search/litmus/explorer.h \
	tests/search/litmus/fast.c \
	tests/search/litmus/hand_off.c \
	tests/search/litmus/inspection.c \
	tests/search/litmus/layer.h \
	tests/search/litmus/litmus.sh \
	tests/search/litmus/machine.sh tests/search/litmus/machine.txt \
	tests/search/litmus/main.c \
	tests/search/litmus/orders.txt \
	tests/search/litmus/races.c \
	tests/search/litmus/record.c \
	tests/search/litmus/relacy.cpp tests/search/litmus/relacy.sh \
	tests/search/litmus/tickets.c \
	tests/search/litmus/values.c tests/search/litmus/values.h \
	tests/search/litmus/world.c tests/search/litmus/world.h

.PHONY: check-litmus
check-litmus:
	$(AM_TESTS_ENVIRONMENT) $(SHELL) $(srcdir)/tests/search/litmus/all.sh

clean-local: clean-litmus
.PHONY: clean-litmus
clean-litmus:
	-rm -rf tests/search/litmus/litmus tests/search/litmus/*.objects tests/search/litmus/weakened \
		tests/search/litmus/places tests/search/litmus/table tests/search/litmus/machine \
		tests/search/litmus/relacy
