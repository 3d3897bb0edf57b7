# SPDX-License-Identifier: MIT
# tests/release/platforms/local.mk - tests of the library with another C library or time_t, on another machine
# or system, and under race detectors; included by ../../local.mk.
#
#   make check-ports                      run `make check` on each target; some targets are emulated
#   make check-ports PORTS="arm64 s390x"  run it on some of the targets in tests/release/platforms/target.sh
#   make check-flags                      run it with the flags of distributions

verify_scripts += \
	tests/release/platforms/posix_only.sh \
	tests/release/platforms/systems.sh \
	tests/release/platforms/test_time_bits.py \
	tests/release/platforms/watched.sh
EXTRA_DIST += tests/release/platforms/target.sh tests/release/platforms/watched.c

.PHONY: check-flags check-ports
check-flags:
	$(MAKE) check-ports PORTS='debian12 debian13 ubuntu24 fedora lto'
PORTS = amd64 amd64-clang amd64-musl i386 i386-time64 arm64 riscv64 s390x armhf armhf-time64
check-ports:
	status=0; for port in $(PORTS); do \
	  echo "== $$port"; \
	  top_srcdir='$(abs_top_srcdir)' top_builddir='$(abs_top_builddir)' \
	    $(SHELL) $(srcdir)/tests/release/platforms/target.sh $$port $(SKIPS) || status=1; \
	done; exit $$status
