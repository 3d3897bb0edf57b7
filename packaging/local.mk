# SPDX-License-Identifier: MIT
# packaging/local.mk - packages for distributions and for other languages, and the library as one file;
# included by ../Makefile.am.
#
# dpkg-buildpackage looks for debian/ at the top; check_packages.sh copies it to the top.

EXTRA_DIST += \
	packaging/debian/changelog \
	packaging/debian/control \
	packaging/debian/copyright \
	packaging/debian/fairsem-doc.install \
	packaging/debian/fairsem-doc.links \
	packaging/debian/fairsem-doc.lintian-overrides \
	packaging/debian/fairsem-tools-cluster.install \
	packaging/debian/fairsem-tools.install \
	packaging/debian/libfairsem-cluster-dev.install \
	packaging/debian/libfairsem-cluster0.install \
	packaging/debian/libfairsem-cluster0.symbols \
	packaging/debian/libfairsem-dev.install \
	packaging/debian/libfairsem-dev.lintian-overrides \
	packaging/debian/libfairsem0.install \
	packaging/debian/libfairsem0.symbols \
	packaging/debian/not-installed \
	packaging/debian/rules \
	packaging/debian/source/format \
	packaging/debian/source/lintian-overrides \
	packaging/debian/tests/commands \
	packaging/debian/tests/control \
	packaging/debian/tests/examples \
	packaging/debian/tests/library \
	packaging/amalgamation.awk \
	packaging/amalgamation.h \
	packaging/amalgamation.sh \
	packaging/check_dist.sh \
	packaging/check_packages.sh \
	packaging/cmake/CMakeLists.txt \
	packaging/meson.build \
	packaging/python/README.md \
	packaging/python/compare.py \
	packaging/python/fairsem/__init__.py \
	packaging/python/fairsem/_library.py \
	packaging/python/fairsem/aio.py \
	packaging/python/fairsem/py.typed \
	packaging/python/pyproject.toml \
	packaging/python/setup.py \
	packaging/python/tests/test_aio.py \
	packaging/python/tests/test_aio_own.py \
	packaging/python/tests/test_layout.py \
	packaging/python/tests/test_objects.py \
	packaging/python/tests/test_semaphore.py \
	packaging/python/tests/test_shared.py \
	packaging/release_check.sh \
	packaging/release_files.sh \
	packaging/rpm/fairsem.spec \
	packaging/rpm/rpmlint.toml \
	packaging/tar.sh

# make dist is reproducible: it contains no names or times of this machine.
am__tar = $(SHELL) $(srcdir)/packaging/tar.sh "$$tardir"

# The library as one file, amalgamation/fairsem.c, with the public headers in the same directory.
.PHONY: amalgamation clean-amalgamation
amalgamation:
	$(AM_V_GEN)$(SHELL) $(srcdir)/packaging/amalgamation.sh amalgamation
clean-local: clean-amalgamation
clean-amalgamation:
	rm -rf amalgamation

.PHONY: check-dist check-packages release-check release-files
check-dist:
	@$(AM_TESTS_ENVIRONMENT) $(SHELL) $(srcdir)/packaging/check_dist.sh
check-packages:
	@$(AM_TESTS_ENVIRONMENT) $(SHELL) $(srcdir)/packaging/check_packages.sh $(SKIPS)
release-check: all
	@$(AM_TESTS_ENVIRONMENT) ROWS='$(ROWS)' SEED='$(SEED)' \
	  $(SHELL) $(srcdir)/packaging/release_check.sh
release-files:
	@$(AM_TESTS_ENVIRONMENT) $(SHELL) $(srcdir)/packaging/release_files.sh '$(URL)'
