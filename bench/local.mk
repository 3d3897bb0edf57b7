# SPDX-License-Identifier: MIT
# bench/local.mk - compare fairsem with its peers; included by ../Makefile.am.
#
#   make bench          everything, with a report in bench/report/: less than ten minutes
#   make bench CORES=16 a table of a simulated machine with 16 cores: one minute, or ten with 64 cores
#   make bench-report   the report again, from the existing numbers
#   make bench-smoke    run each workload briefly, to check that it works
#   make check-cost     compare instructions per operation with bench/baseline.txt

# The workload that examples/hog-and-victim also runs.
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
	bench/array_sem.c bench/array_sem.h \
	bench/buffer.c \
	bench/contended.c \
	bench/crowd.c \
	bench/die.c bench/die.h \
	bench/fairsem_bench.c \
	bench/handoff.c \
	bench/loops.c bench/loops.h \
	bench/peers.h \
	bench/report.c bench/report.h \
	bench/tenants.c \
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

shared_bench_sources = \
	bench/shared.c \
	bench/shared_crowd.c \
	bench/shared_peers.c bench/shared_peers.h
if HAVE_SHARED
bench_fairsem_bench_SOURCES += $(shared_bench_sources)
bench_fairsem_bench_CPPFLAGS += -DHAVE_SHARED
else
EXTRA_DIST += $(shared_bench_sources)
endif

# bench.py and pictures.gp make tables and pictures of the output of fairsem-bench.
dist_pkgdata_DATA = bench/bench.py bench/pictures.gp
dist_man_MANS += doc/man/fairsem-bench.1

# bench/cost is linked statically, so that the binding of functions is not counted.
EXTRA_PROGRAMS = bench/cost
bench_cost_SOURCES = bench/cost.c $(hog_victim_sources)
bench_cost_LDADD = libcore.la $(LIBM)
CLEANFILES += $(EXTRA_PROGRAMS)
EXTRA_DIST += bench/baseline.txt bench/cluster.py bench/cost.sh

# The workloads to run, and the place of the results.
BENCH = all
BENCH_DROPIN = dropin buffer
BENCH_BYPASS = buffer
BENCH_REPORT = bench/report
CORES =
.PHONY: bench bench-measured bench-cluster bench-report bench-smoke check-cost
check-cost: bench/cost$(EXEEXT)
	@$(AM_TESTS_ENVIRONMENT) $(SHELL) $(srcdir)/bench/cost.sh $(COST) $(SKIPS)
bench:
	@if test -z '$(CORES)'; then \
	  $(MAKE) $(AM_MAKEFLAGS) bench-measured; \
	else \
	  $(MAKE) $(AM_MAKEFLAGS) -s tests/search/cores/cores && \
	  python3 -B $(srcdir)/tests/search/cores/tables.py tests/search/cores/cores $(CORES); \
	fi
bench-measured: bench/fairsem-bench$(EXEEXT)
	@mkdir -p '$(BENCH_REPORT)'
	@FAIRSEM_LIMIT='$(abs_top_builddir)/fairsem-limit' \
	  bench/fairsem-bench $(BENCH) > '$(BENCH_REPORT)/results'
	@FAIRSEM_MODULE='$(abs_top_builddir)/.libs/fairsem-interpose.so'; export FAIRSEM_MODULE; \
	if ./fairsem-run --check > /dev/null 2>&1; then \
	  ./fairsem-run bench/fairsem-bench $(BENCH_DROPIN) >> '$(BENCH_REPORT)/results'; \
	  ./fairsem-run --bypass=10ms bench/fairsem-bench $(BENCH_BYPASS) >> '$(BENCH_REPORT)/results'; \
	else \
	  echo "bench: no drop-in: fairsem-run does not work here" >&2; \
	fi
	@$(MAKE) $(AM_MAKEFLAGS) -s bench-report
	@echo "ok: the report is in $(BENCH_REPORT)"
bench-report:
	@python3 $(srcdir)/bench/bench.py --report '$(BENCH_REPORT)'
# bench-cluster needs etcd.
bench-cluster: tests/cluster/cluster_user$(EXEEXT)
	@work=`mktemp -d` && $(AM_TESTS_ENVIRONMENT) python3 $(srcdir)/bench/cluster.py $$work; \
	status=$$?; rm -rf $$work; exit $$status
bench-smoke: bench/fairsem-bench$(EXEEXT)
	@$(AM_TESTS_ENVIRONMENT) $(SHELL) $(srcdir)/tests/release/package/bench.sh
