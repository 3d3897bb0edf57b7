# SPDX-License-Identifier: MIT
# doc/site/local.mk - `make html`: a site of the manual pages and the documents; included by
# ../../Makefile.am.

EXTRA_DIST += doc/site/site.sh doc/site/style.css

html-local: doc/man/fairsem.hpp.3
	$(AM_V_GEN)$(SHELL) $(srcdir)/doc/site/site.sh html '$(VERSION)' '$(srcdir)' .

install-html-local: html-local
	$(MKDIR_P) '$(DESTDIR)$(htmldir)'
	for file in html/*; do $(INSTALL_DATA) "$$file" '$(DESTDIR)$(htmldir)' || exit; done

uninstall-local:
	for file in html/*; do rm -f '$(DESTDIR)$(htmldir)'/"$${file##*/}"; done

clean-local: clean-site
clean-site:
	rm -rf html
