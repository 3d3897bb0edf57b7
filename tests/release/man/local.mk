# SPDX-License-Identifier: MIT
# tests/release/man/local.mk - the manual pages and their site; included by ../../local.mk.

test_scripts += tests/release/man/contract.sh tests/release/man/lint.sh
release_scripts += tests/release/man/site.sh
EXTRA_DIST += \
	tests/release/man/declared.awk \
	tests/release/man/header.awk \
	tests/release/man/page.awk \
	tests/release/man/twice.awk
