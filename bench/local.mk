# SPDX-License-Identifier: MIT
# bench/local.mk - fairsem beside its peers; included by ../Makefile.am.

# The workload that the demonstration shows, too.
hog_victim_sources = \
	bench/clock.h \
	bench/duration_text.c bench/duration_text.h \
	bench/hog_victim.c bench/hog_victim.h \
	bench/machine.c bench/machine.h \
	bench/peer_fairsem.h bench/peer_posix.h \
	bench/pin.c bench/pin.h \
	bench/progress.c bench/progress.h \
	bench/sem_ops.c bench/sem_ops.h \
	bench/stats.c bench/stats.h

noinst_PROGRAMS += bench/fairsem-bench
bench_fairsem_bench_SOURCES = \
	$(hog_victim_sources) \
	bench/fairsem_bench.c \
	bench/futex_ring.c bench/futex_ring.h \
	bench/handoff.c \
	bench/lines.c \
	bench/peer_textbook.h bench/peers.h \
	bench/report.c bench/report.h \
	bench/ring.c \
	bench/textbook_sem.c bench/textbook_sem.h \
	bench/uncontended.c \
	bench/victim.c \
	bench/workloads.h
bench_fairsem_bench_LDADD = libfairsem.la $(LIBM)
bench_fairsem_bench_CPPFLAGS = $(AM_CPPFLAGS)
if BUILD_INTERPOSER
bench_fairsem_bench_SOURCES += bench/dropin.c
bench_fairsem_bench_CPPFLAGS += -DHAVE_DROPIN
bench_fairsem_bench_LDADD += $(DL_LIBS)
else
EXTRA_DIST += bench/dropin.c
endif

.PHONY: bench
bench: bench/fairsem-bench$(EXEEXT)
	bench/fairsem-bench$(EXEEXT) all
