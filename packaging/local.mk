# SPDX-License-Identifier: MIT
# packaging/local.mk - packages of distributions; included by ../Makefile.am.
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
	packaging/check_dist.sh \
	packaging/tar.sh

# make dist is reproducible: no names or times of this machine in it.
am__tar = $(SHELL) $(srcdir)/packaging/tar.sh "$$tardir"

.PHONY: check-dist
check-dist:
	@$(AM_TESTS_ENVIRONMENT) $(SHELL) $(srcdir)/packaging/check_dist.sh
