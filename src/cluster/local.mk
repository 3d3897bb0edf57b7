# SPDX-License-Identifier: MIT
# src/cluster/local.mk - libfairsem-cluster, the limit between machines; included by ../../Makefile.am.

EXTRA_DIST += src/cluster/cluster.map
cluster_sources = \
	src/cluster/clock.c src/cluster/clock.h \
	src/cluster/cluster.c \
	src/cluster/engine.h \
	src/cluster/etcd.c \
	src/cluster/etcd_answer.c src/cluster/etcd_answer.h \
	src/cluster/etcd_ask.c src/cluster/etcd_ask.h \
	src/cluster/etcd_users.c src/cluster/etcd_users.h \
	src/cluster/http.c src/cluster/http.h \
	src/cluster/json.c src/cluster/json.h \
	src/cluster/lease.c src/cluster/lease.h \
	src/cluster/loop.c src/cluster/loop.h \
	src/cluster/options.c src/cluster/options.h \
	src/cluster/record.c src/cluster/record.h \
	src/cluster/request.c src/cluster/request.h \
	src/cluster/srv.h \
	src/cluster/users.c
if HAVE_RESOLVER
cluster_sources += src/cluster/srv.c
EXTRA_DIST += src/cluster/srv_absent.c
else
cluster_sources += src/cluster/srv_absent.c
EXTRA_DIST += src/cluster/srv.c
endif
cluster_headers = include/fairsem/cluster.h

if HAVE_CLUSTER
lib_LTLIBRARIES += libfairsem-cluster.la
fairseminclude_HEADERS += $(cluster_headers)
pkgconfig_DATA += fairsem-cluster.pc

# The same objects as an archive, for tests that call internal functions.
noinst_LTLIBRARIES += libcluster.la
libcluster_la_SOURCES = $(cluster_sources)
libcluster_la_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/src/cluster -D_POSIX_C_SOURCE=200809L
libcluster_la_CFLAGS = $(lib_cflags) $(CURL_CFLAGS) $(JANSSON_CFLAGS)
libcluster_la_LIBADD = $(CURL_LIBS) $(JANSSON_LIBS) $(RESOLV_LIBS)

libfairsem_cluster_la_SOURCES =
libfairsem_cluster_la_LIBADD = libcluster.la libfairsem.la $(CURL_LIBS) $(JANSSON_LIBS) $(RESOLV_LIBS)
libfairsem_cluster_la_LDFLAGS = $(LIB_LDFLAGS) \
	-version-info $(CLUSTER_CURRENT):$(CLUSTER_REVISION):$(CLUSTER_AGE)
libfairsem_cluster_la_DEPENDENCIES = libcluster.la libfairsem.la src/local_names.sh
libfairsem_cluster_la_LINK = $(LOCAL_NAMES) $(LIBTOOL) $(AM_V_lt) --tag=CC $(AM_LIBTOOLFLAGS) \
	$(LIBTOOLFLAGS) --mode=link $(CCLD) $(AM_CFLAGS) $(CFLAGS) $(libfairsem_cluster_la_LDFLAGS) \
	$(LDFLAGS) -o $@
if HAVE_VERSION_SCRIPT
libfairsem_cluster_la_LDFLAGS += -Wl,--version-script=$(srcdir)/src/cluster/cluster.map \
	-Wl,--no-undefined-version
libfairsem_cluster_la_DEPENDENCIES += src/cluster/cluster.map
endif
else
EXTRA_DIST += $(cluster_sources) $(cluster_headers)
endif
