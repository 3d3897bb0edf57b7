# SPDX-License-Identifier: MIT
# bench/local.mk - compare fairsem with its peers; included by ../Makefile.am.
#
#   make bench          everything, with a report in bench/report/: less than ten minutes
#   make bench-publish  the same, then its figures into README.md and its pictures into doc/
#   make bench-smoke    run each workload briefly, to check that it works
#   make check-cost     compare instructions per operation with bench/baseline.txt

# The workload that the demonstration also shows.
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

bin_PROGRAMS += bench/fairsem-bench
bench_fairsem_bench_SOURCES = \
	$(hog_victim_sources) \
	bench/arena.c bench/arena.h \
	bench/contended.c \
	bench/contended_summary.c bench/contended_summary.h \
	bench/cpu.c \
	bench/crowd.c bench/crowd.h \
	bench/data_file.c bench/data_file.h \
	bench/die.c bench/die.h \
	bench/expiry.c \
	bench/fairsem_bench.c \
	bench/foreign.c bench/foreign.h \
	bench/futex_ring.c \
	bench/handoff.c \
	bench/histogram.c bench/histogram.h \
	bench/lines.c \
	bench/loops.c bench/loops.h \
	bench/peers.h \
	bench/price.c \
	bench/report.c bench/report.h \
	bench/report_json.c bench/report_json.h \
	bench/report_table.c bench/report_table.h \
	bench/ring.c \
	bench/sysv_sem.c \
	bench/textbook_sem.c \
	bench/uncontended.c \
	bench/victim.c \
	bench/wake.c \
	bench/workloads.h
bench_fairsem_bench_LDADD = libfairsem.la $(LIBM)
bench_fairsem_bench_CPPFLAGS = $(AM_CPPFLAGS) -DFOREIGN_DIRECTORY='"$(foreigndir)"'
bench_fairsem_bench_LINK = $(LINK) # also with the C++ peer

# Programs in other languages; they are compiled where they run.
foreigndir = $(pkgdatadir)/foreign
foreigntokiodir = $(foreigndir)/tokio
dist_foreign_DATA = \
	bench/foreign/FairSemaphore.java \
	bench/foreign/README.md \
	bench/foreign/weighted.go
dist_foreign_SCRIPTS = bench/foreign/foreign.sh
dist_foreigntokio_DATA = bench/foreign/tokio/Cargo.toml bench/foreign/tokio/main.rs

if BUILD_INTERPOSER
bench_fairsem_bench_SOURCES += bench/dropin.c
bench_fairsem_bench_CPPFLAGS += -DHAVE_DROPIN
bench_fairsem_bench_LDADD += $(DL_LIBS)
else
EXTRA_DIST += bench/dropin.c
endif

shared_bench_sources = \
	bench/shared.c \
	bench/shared_crowd.c bench/shared_crowd.h \
	bench/shared_lives.c bench/shared_lives.h \
	bench/shared_peers.c bench/shared_peers.h
if HAVE_SHARED
bench_fairsem_bench_SOURCES += $(shared_bench_sources)
bench_fairsem_bench_CPPFLAGS += -DHAVE_SHARED
else
EXTRA_DIST += $(shared_bench_sources)
endif

if HAVE_CXX20_SEMAPHORE
bench_fairsem_bench_SOURCES += bench/cxx_sem.cpp
bench_fairsem_bench_CPPFLAGS += -DHAVE_CXX20_SEMAPHORE
bench_fairsem_bench_CXXFLAGS = -std=c++20
bench_fairsem_bench_LDADD += $(CXX_LIBS)
else
EXTRA_DIST += bench/cxx_sem.cpp
endif

dist_man_MANS += doc/man/fairsem-bench.1

EXTRA_DIST += \
	bench/plots/lines.gp \
	bench/plots/panels.gp \
	bench/plots/style.gp \
	bench/plots/tail.gp \
	bench/publish.sh \
	bench/report.sh

# With the library inside: the binding of functions is not counted.
EXTRA_PROGRAMS = bench/cost
bench_cost_SOURCES = bench/cost.c $(hog_victim_sources)
bench_cost_LDADD = libcore.la $(LIBM)
CLEANFILES += $(EXTRA_PROGRAMS)
EXTRA_DIST += bench/baseline.txt bench/cluster.py bench/cost.sh

.PHONY: bench bench-cluster bench-publish bench-smoke check-cost
check-cost: bench/cost$(EXEEXT)
	@$(AM_TESTS_ENVIRONMENT) $(SHELL) $(srcdir)/bench/cost.sh $(COST) || test $$? -eq 77
bench: bench/fairsem-bench$(EXEEXT)
	@$(AM_TESTS_ENVIRONMENT) $(SHELL) $(srcdir)/bench/report.sh
# It needs etcd.
bench-cluster: tests/api/cluster/cluster_user$(EXEEXT)
	@work=`mktemp -d` && $(AM_TESTS_ENVIRONMENT) python3 $(srcdir)/bench/cluster.py $$work; \
	status=$$?; rm -rf $$work; exit $$status
bench-publish: bench
	@$(AM_TESTS_ENVIRONMENT) $(SHELL) $(srcdir)/bench/publish.sh
bench-smoke: bench/fairsem-bench$(EXEEXT)
	@$(AM_TESTS_ENVIRONMENT) $(SHELL) $(srcdir)/tests/release/package/bench.sh

# Not bench/report: measurements are the user's, like the sources of a program.
clean-local:
	rm -rf bench/cache
