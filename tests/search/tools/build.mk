# SPDX-License-Identifier: MIT
# build.mk - the library, tests and canaries made with the flags of one tool, and run by it.
#
# check_tools.sh calls it in an empty directory, with
#   SRC       the source tree
#   CC FLAGS  the compiler, and what the tool wants of it
#   RUN       the words before a program that is run
#   TESTS     the names of test programs, CANARIES those of canaries
# A run leaves NAME.log, and its exit status in NAME.status.  The library whose memory orders
# are all relaxed is only made for canary_relaxed, which is canary_order with that library.

CFLAGS = -std=c11 -D_POSIX_C_SOURCE=200809L -g -O1 -fno-omit-frame-pointer -fexceptions \
	-fasynchronous-unwind-tables -I$(SRC)/include -I$(SRC)/src -I$(SRC)/src/core -I$(SRC)/src/posix \
	-I$(SRC)/tests/support -I$(SRC)/tests/support/plain -DFAIRSEM_WATCHED_=0 $(FLAGS)
compile = $(CC) $(CFLAGS)

sources := $(wildcard $(SRC)/src/core/*.c) $(wildcard $(SRC)/src/posix/*.c) \
	$(filter-out %/absent.c,$(wildcard $(SRC)/src/shared/*.c))
objects := $(notdir $(sources:.c=.o))
headers := $(wildcard $(SRC)/include/*.h $(SRC)/include/*/*.h $(SRC)/src/core/*.h \
	$(SRC)/src/shared/*.h $(SRC)/tests/*/*/*.h)
vpath %.c $(SRC)/src/core $(SRC)/src/shared $(SRC)/src/posix \
	$(addprefix $(SRC)/tests/,support api/fairsem inside/core inside/faults \
	  api/limit api/posix api/shared search/tools)

# Phony, or make's own rule for a program of this name links it from all.o, which is src/core/all.c.
.PHONY: all
all: $(TESTS:=.log) $(CANARIES:=.log) $(CANARIES:=.healthy.log)

%.o: %.c $(headers)
	$(compile) -c $< -o $@

relaxed-%.o: %.c $(headers)
	$(compile) -include $(SRC)/tests/search/tools/relaxed.h -c $< -o $@

libcore.a: $(objects) workers.o
	rm -f $@ && ar rcs $@ $^

librelaxed.a: $(objects:%=relaxed-%)
	rm -f $@ && ar rcs $@ $^

t_%: t_%.c libcore.a
	$(compile) $< libcore.a -o $@ -lpthread \
	  $$($(SRC)/tests/support/wraps.sh $@)

canary_relaxed: canary_order.c librelaxed.a
	$(compile) $< librelaxed.a -o $@ -lpthread

canary_%: canary_%.c libcore.a
	$(compile) $< libcore.a -o $@ -lpthread

canary_relaxed.healthy.log: canary_order
	$(RUN) ./canary_order > $@ 2>&1; echo $$? > canary_relaxed.healthy.status

%.healthy.log: %
	$(RUN) ./$* healthy > $@ 2>&1; echo $$? > $*.healthy.status

%.log: %
	$(RUN) ./$* > $@ 2>&1; echo $$? > $*.status

.PRECIOUS: t_% canary_% %.o
