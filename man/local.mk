# SPDX-License-Identifier: MIT
# man/local.mk - the manual pages of the library; included by ../Makefile.am.  The
# makefiles of the commands have the pages of the commands.

# Not man_MANS: --program-prefix renames those.
libman3dir = $(mandir)/man3
dist_libman3_DATA = \
	man/fairsem_acquire.3 \
	man/fairsem_available.3 \
	man/fairsem_close.3 \
	man/fairsem_init.3 \
	man/fairsem_release.3 \
	man/fairsem_sem_init.3 \
	man/fairsem_set_capacity.3 \
	man/fairsem_shared_acquire.3 \
	man/fairsem_shared_open.3 \
	man/fairsem_shared_stat.3 \
	man/fairsem_stat.3 \
	man/fairsem_ticket_take.3 \
	man/fairsem_token_cancel.3 \
	man/fairsem_units_acquire.3 \
	man/fairsem_version.3
libman7dir = $(mandir)/man7
dist_libman7_DATA = \
	man/fairsem.7 \
	man/fairsem_shared.7
EXTRA_DIST += man/links.sh man/names.sh

# `man fairsem_destroy` finds fairsem_init(3).
install-data-hook:
	$(SHELL) $(srcdir)/man/links.sh install '$(DESTDIR)$(mandir)' $(srcdir)/man/*.3

uninstall-hook:
	$(SHELL) $(srcdir)/man/links.sh uninstall '$(DESTDIR)$(mandir)' $(srcdir)/man/*.3
