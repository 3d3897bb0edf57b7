# SPDX-License-Identifier: MIT
# doc/man/local.mk - the manual pages of the library, and the site that `make html` makes of all pages;
# included by ../../Makefile.am.  The makefiles of the commands have their pages.

# Not man_MANS: --program-prefix renames those.
libman3dir = $(mandir)/man3
dist_libman3_DATA = \
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
	doc/man/fairsem_shared.7
site_sources = \
	doc/man/families \
	doc/man/names.sh \
	doc/man/page.awk \
	doc/man/search.js \
	doc/man/site.sh \
	doc/man/style.css
EXTRA_DIST += doc/man/links.sh $(site_sources)

# `man fairsem_destroy` finds fairsem_init(3).
install-data-hook:
	$(SHELL) $(srcdir)/doc/man/links.sh install '$(DESTDIR)$(mandir)' $(srcdir)/doc/man/*.3

uninstall-hook:
	$(SHELL) $(srcdir)/doc/man/links.sh uninstall '$(DESTDIR)$(mandir)' $(srcdir)/doc/man/*.3

# ---------------------------------------------------------------- the site
site_pages = $(dist_libman3_DATA) $(dist_libman7_DATA) \
	doc/man/fairsem-bench.1 doc/man/fairsem-limit.1 doc/man/fairsem-run.1 doc/man/fairsem_posix.7

html-local: html/index.html

html/index.html: $(site_pages) $(site_sources)
	$(AM_V_GEN)$(SHELL) $(srcdir)/doc/man/site.sh html '$(VERSION)' $(srcdir)/doc/man/*.[137]

install-html-local: html/index.html
	$(MKDIR_P) '$(DESTDIR)$(htmldir)'
	for file in html/*; do $(INSTALL_DATA) "$$file" '$(DESTDIR)$(htmldir)' || exit; done

uninstall-local:
	for page in $(srcdir)/doc/man/*.[137]; do \
	  rm -f '$(DESTDIR)$(htmldir)'/"$${page##*/}".html; \
	done
	rm -f '$(DESTDIR)$(htmldir)/index.html' '$(DESTDIR)$(htmldir)/search.js' \
	  '$(DESTDIR)$(htmldir)/style.css'

clean-local: clean-site
clean-site:
	rm -rf html
