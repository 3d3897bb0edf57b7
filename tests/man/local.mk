# SPDX-License-Identifier: MIT
# tests/man/local.mk - the manual pages and their site; included by ../local.mk.

test_scripts += \
	tests/man/contract.sh \
	tests/man/lint.sh \
	tests/man/programs.sh \
	tests/man/site.sh
EXTRA_DIST += \
	tests/man/header.awk \
	tests/man/page.awk \
	tests/man/search_test.js
