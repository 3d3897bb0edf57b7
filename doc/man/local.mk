# SPDX-License-Identifier: MIT
# doc/man/local.mk - the manual pages of the library; included by ../../Makefile.am.  The makefiles of
# the commands have their pages.

# Not man_MANS: --program-prefix renames those.
libman3dir = $(mandir)/man3
dist_libman3_DATA = \
	doc/man/fairsem.hpp.3 \
	doc/man/fairsem_acquire.3 \
	doc/man/fairsem_acquire_all.3 \
	doc/man/fairsem_available.3 \
	doc/man/fairsem_close.3 \
	doc/man/fairsem_init.3 \
	doc/man/fairsem_release.3 \
	doc/man/fairsem_sem_init.3 \
	doc/man/fairsem_set_capacity.3 \
	doc/man/fairsem_share_init.3 \
	doc/man/fairsem_shared_acquire.3 \
	doc/man/fairsem_shared_open.3 \
	doc/man/fairsem_shared_stat.3 \
	doc/man/fairsem_stat.3 \
	doc/man/fairsem_ticket_take.3 \
	doc/man/fairsem_token_cancel.3 \
	doc/man/fairsem_units_acquire.3 \
	doc/man/fairsem_version.3
libman7dir = $(mandir)/man7
dist_libman7_DATA = \
	doc/man/fairsem.7 \
	doc/man/fairsem_cluster.7 \
	doc/man/fairsem_shared.7
EXTRA_DIST += doc/man/cxx.py doc/man/links.sh doc/man/names.sh

cxx_headers = \
	$(srcdir)/include/fairsem.hpp \
	$(srcdir)/include/fairsem/async.hpp \
	$(srcdir)/include/fairsem/coroutine.hpp \
	$(srcdir)/include/fairsem/errors.hpp \
	$(srcdir)/include/fairsem/options.hpp \
	$(srcdir)/include/fairsem/place.hpp \
	$(srcdir)/include/fairsem/semaphore.hpp \
	$(srcdir)/include/fairsem/units.hpp

# This page is in the tarball, too.  Only if a header has changed since does make need python3.
doc/man/fairsem.hpp.3: $(srcdir)/doc/man/cxx.py $(cxx_headers)
	$(AM_V_GEN)$(MKDIR_P) doc/man && python3 -B $(srcdir)/doc/man/cxx.py $(srcdir)/include > $@.new && mv $@.new $@
CLEANFILES += doc/man/fairsem.hpp.3.new
MAINTAINERCLEANFILES = doc/man/fairsem.hpp.3
pages3 = $(srcdir)/doc/man/*.3 \
	$$(test -f $(srcdir)/doc/man/fairsem.hpp.3 || echo doc/man/fairsem.hpp.3)

# `man fairsem_destroy` finds fairsem_init(3).
install-data-hook:
	$(SHELL) $(srcdir)/doc/man/links.sh install '$(DESTDIR)$(mandir)' $(pages3)

uninstall-hook:
	$(SHELL) $(srcdir)/doc/man/links.sh uninstall '$(DESTDIR)$(mandir)' $(pages3)
