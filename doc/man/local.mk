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
EXTRA_DIST += doc/man/links.sh doc/man/names.sh

# `man fairsem_destroy` finds fairsem_init(3).
install-data-hook:
	$(SHELL) $(srcdir)/doc/man/links.sh install '$(DESTDIR)$(mandir)' $(srcdir)/doc/man/*.3

uninstall-hook:
	$(SHELL) $(srcdir)/doc/man/links.sh uninstall '$(DESTDIR)$(mandir)' $(srcdir)/doc/man/*.3
