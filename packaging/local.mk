# SPDX-License-Identifier: MIT
# packaging/local.mk - packages of distributions, and the library as one file; included by
# ../Makefile.am.
#
# debian/ is where dpkg-buildpackage looks for it.

EXTRA_DIST += \
	debian/changelog \
	debian/control \
	debian/copyright \
	debian/fairsem-doc.install \
	debian/fairsem-doc.links \
	debian/fairsem-doc.lintian-overrides \
	debian/fairsem-tools.install \
	debian/fairsem-tools.lintian-overrides \
	debian/libfairsem-dev.install \
	debian/libfairsem-dev.lintian-overrides \
	debian/libfairsem0.install \
	debian/libfairsem0.symbols \
	debian/not-installed \
	debian/rules \
	debian/source/format \
	debian/source/lintian-overrides \
	debian/tests/commands \
	debian/tests/control \
	debian/tests/examples \
	debian/tests/library \
	packaging/alpine/APKBUILD \
	packaging/amalgamation.awk \
	packaging/amalgamation.h \
	packaging/amalgamation.sh \
	packaging/check_dist.sh \
	packaging/check_flags.sh \
	packaging/check_packages.sh \
	packaging/cmake/CMakeLists.txt \
	packaging/homebrew/fairsem.rb \
	packaging/release_check.sh \
	packaging/release_files.sh \
	packaging/rpm/fairsem.spec \
	packaging/rpm/rpmlint.toml \
	packaging/tar.sh

# make dist is reproducible: no names or times of this machine in it.
am__tar = $(SHELL) $(srcdir)/packaging/tar.sh "$$tardir"

# The library as one file, amalgamation/fairsem.c, with the public headers beside it.
.PHONY: amalgamation check-amalgamation clean-amalgamation
amalgamation:
	$(AM_V_GEN)$(SHELL) $(srcdir)/packaging/amalgamation.sh amalgamation
check-amalgamation:
	@$(AM_TESTS_ENVIRONMENT) $(SHELL) $(srcdir)/tests/package/amalgamation.sh tests
clean-local: clean-amalgamation
clean-amalgamation:
	rm -rf amalgamation

.PHONY: check-dist check-flags check-packages release-check release-files
check-dist:
	@$(AM_TESTS_ENVIRONMENT) $(SHELL) $(srcdir)/packaging/check_dist.sh
check-flags:
	@$(AM_TESTS_ENVIRONMENT) FLAGS='$(FLAGS)' ONLY='$(ONLY)'; export FLAGS ONLY; \
		$(SHELL) $(srcdir)/packaging/check_flags.sh || test $$? -eq 77
check-packages:
	@$(AM_TESTS_ENVIRONMENT) $(SHELL) $(srcdir)/packaging/check_packages.sh || test $$? -eq 77
release-check: all
	@$(AM_TESTS_ENVIRONMENT) STEPS='$(STEPS)'; export STEPS; \
		$(SHELL) $(srcdir)/packaging/release_check.sh
release-files:
	@$(AM_TESTS_ENVIRONMENT) $(SHELL) $(srcdir)/packaging/release_files.sh '$(URL)'
