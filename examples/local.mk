# SPDX-License-Identifier: MIT
# examples/local.mk - programs to copy from; included by ../Makefile.am.

noinst_PROGRAMS += examples/hog-and-victim
examples_hog_and_victim_SOURCES = \
	examples/hog-and-victim.c \
	examples/wait_plot_svg.c examples/wait_plot_svg.h \
	$(hog_victim_sources)
examples_hog_and_victim_LDADD = libfairsem.la $(LIBM)

compress_tree_sources = \
	examples/compress-tree.c \
	examples/file_list.c examples/file_list.h
if HAVE_ZLIB
noinst_PROGRAMS += examples/compress-tree
examples_compress_tree_SOURCES = $(compress_tree_sources)
examples_compress_tree_LDADD = libfairsem.la $(ZLIB_LIBS)
else
EXTRA_DIST += $(compress_tree_sources)
endif

noinst_PROGRAMS += \
	examples/worker-pool \
	examples/consumer-priority \
	examples/budget-pool \
	examples/fetch-limiter \
	examples/start-once \
	examples/start-rate \
	examples/tenants
examples_worker_pool_SOURCES = examples/worker-pool.c
examples_worker_pool_LDADD = libfairsem.la
examples_consumer_priority_SOURCES = examples/consumer-priority.c
examples_consumer_priority_LDADD = libfairsem.la
examples_budget_pool_SOURCES = examples/budget-pool.c
examples_budget_pool_LDADD = libfairsem.la
examples_fetch_limiter_SOURCES = examples/fetch-limiter.c
examples_fetch_limiter_LDADD = libfairsem.la
examples_start_once_SOURCES = examples/start-once.c
examples_start_once_LDADD = libfairsem.la
examples_start_rate_SOURCES = examples/start-rate.c
examples_start_rate_LDADD = libfairsem.la
examples_tenants_SOURCES = examples/tenants.c
examples_tenants_LDADD = libfairsem.la

event_loop_sources = examples/event-loop.c
if HAVE_EPOLL
noinst_PROGRAMS += examples/event-loop
examples_event_loop_SOURCES = $(event_loop_sources)
examples_event_loop_LDADD = libfairsem.la
else
EXTRA_DIST += $(event_loop_sources)
endif

if HAVE_SHARED
noinst_PROGRAMS += examples/prefork-server
examples_prefork_server_SOURCES = examples/prefork-server.c
examples_prefork_server_LDADD = libfairsem.la
else
EXTRA_DIST += examples/prefork-server.c
endif

# killed-jobs runs fairsem-limit, and needs no library itself.
killed_jobs_sources = \
	examples/killed-jobs.c \
	examples/killed_job.c examples/killed_job.h \
	examples/file_list.c examples/file_list.h
if HAVE_KILLED_JOBS
noinst_PROGRAMS += examples/killed-jobs
examples_killed_jobs_SOURCES = $(killed_jobs_sources)
examples_killed_jobs_LDADD = $(ZLIB_LIBS)
else
EXTRA_DIST += $(killed_jobs_sources)
endif

# Examples that need only what is installed are installed as sources.
exampledocdir = $(docdir)/examples
dist_exampledoc_DATA = \
	examples/Makefile.example \
	examples/compress-tree.c \
	examples/consumer-priority.c \
	examples/cron-limit.sh \
	examples/fleet.sh \
	examples/budget-pool.c \
	examples/event-loop.c \
	examples/fetch-limiter.c \
	examples/file_list.c \
	examples/file_list.h \
	examples/killed-jobs.c \
	examples/killed_job.c \
	examples/killed_job.h \
	examples/prefork-server.c \
	examples/start-once.c \
	examples/start-rate.c \
	examples/tenants.c
