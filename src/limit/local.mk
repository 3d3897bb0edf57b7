# SPDX-License-Identifier: MIT
# src/limit/local.mk - fairsem-limit, the semaphore between processes for the shell; included by
# ../../Makefile.am.

fairsem_limit_both = $(commands) \
	src/limit/metrics.c src/limit/metrics.h \
	src/limit/names.h \
	src/limit/options.c \
	src/limit/output.c src/limit/output.h \
	src/limit/process.c src/limit/process.h \
	src/limit/reentrant.c src/limit/reentrant.h \
	src/limit/request.h \
	src/limit/shown.h \
	src/limit/wait_line.c src/limit/wait_line.h

# Names of this machine.
fairsem_limit_segments = \
	src/limit/hold.c src/limit/hold.h \
	src/limit/limit.c \
	src/limit/local.c src/limit/local.h \
	src/limit/local_name.h \
	src/limit/names.c \
	src/limit/rate.c src/limit/rate.h \
	src/limit/status.c

# Names that etcd keeps.  These files need libcurl and the JSON library.
fairsem_limit_etcd = \
	src/limit/cluster.c \
	src/limit/cluster_acquire.c \
	src/limit/cluster_name.h \
	src/limit/cluster_open.c \
	src/limit/cluster_status.c \
	src/limit/cluster_supervise.c

EXTRA_DIST += $(fairsem_limit_both) $(fairsem_limit_segments) $(fairsem_limit_etcd) \
	doc/man/fairsem-limit.1 \
	packaging/completion/fairsem-limit.bash packaging/completion/_fairsem-limit
if HAVE_SHARED
bin_PROGRAMS += fairsem-limit
fairsem_limit_SOURCES = $(fairsem_limit_both) $(fairsem_limit_segments)
fairsem_limit_CPPFLAGS = $(AM_CPPFLAGS) -D_DEFAULT_SOURCE \
	-DFAIRSEM_CLUSTER_PROGRAM='"$(cluster_program)"' \
	-DFAIRSEM_CLUSTER_FROM_HERE='"$(libexec_from_bin)$(PACKAGE)"'
# Link libfairsem statically, if there is a static library.  The dynamic linker would take a third of the time
# that a short command costs.  And the program always has the version of the library that it was built with.
fairsem_limit_LDFLAGS = -static
fairsem_limit_LDADD = libfairsem.la

if HAVE_CLUSTER
cluster_program = $(pkglibexecdir)/fairsem-limit-cluster
pkglibexec_PROGRAMS = fairsem-limit-cluster
fairsem_limit_cluster_SOURCES = $(fairsem_limit_both) $(fairsem_limit_etcd)
fairsem_limit_cluster_CPPFLAGS = $(AM_CPPFLAGS) -D_DEFAULT_SOURCE
fairsem_limit_cluster_LDFLAGS = -static
fairsem_limit_cluster_LDADD = libfairsem-cluster.la libfairsem.la
else
cluster_program =
endif

dist_man_MANS += doc/man/fairsem-limit.1
dist_bashcompletion_DATA += packaging/completion/fairsem-limit.bash
dist_zshcompletion_DATA += packaging/completion/_fairsem-limit
endif
