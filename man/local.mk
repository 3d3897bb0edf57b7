# SPDX-License-Identifier: MIT
# man/local.mk - the manual pages of the library, and the site that `make html` makes of all pages;
# included by ../Makefile.am.  The makefiles of the commands have their pages.

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
site_sources = \
	man/families \
	man/names.sh \
	man/page.awk \
	man/search.js \
	man/site.sh \
	man/style.css
EXTRA_DIST += man/links.sh $(site_sources)

# `man fairsem_destroy` finds fairsem_init(3).
install-data-hook:
	$(SHELL) $(srcdir)/man/links.sh install '$(DESTDIR)$(mandir)' $(srcdir)/man/*.3

uninstall-hook:
	$(SHELL) $(srcdir)/man/links.sh uninstall '$(DESTDIR)$(mandir)' $(srcdir)/man/*.3

# ---------------------------------------------------------------- the site
site_pages = $(dist_libman3_DATA) $(dist_libman7_DATA) \
	man/fairsem-bench.1 man/fairsem-limit.1 man/fairsem-run.1 man/fairsem_posix.7

html-local: html/index.html

html/index.html: $(site_pages) $(site_sources)
	$(AM_V_GEN)$(SHELL) $(srcdir)/man/site.sh html '$(VERSION)' $(srcdir)/man/*.[137]

install-html-local: html/index.html
	$(MKDIR_P) '$(DESTDIR)$(htmldir)'
	for file in html/*; do $(INSTALL_DATA) "$$file" '$(DESTDIR)$(htmldir)' || exit; done

uninstall-local:
	for page in $(srcdir)/man/*.[137]; do \
	  rm -f '$(DESTDIR)$(htmldir)'/"$${page##*/}".html; \
	done
	rm -f '$(DESTDIR)$(htmldir)/index.html' '$(DESTDIR)$(htmldir)/search.js' \
	  '$(DESTDIR)$(htmldir)/style.css'

clean-local: clean-site
clean-site:
	rm -rf html
