# SPDX-License-Identifier: MIT
# tests/release/man/local.mk - the manual pages and their site; included by ../../local.mk.

test_scripts += tests/release/man/lint.sh tests/release/man/test_contract.py
release_scripts += tests/release/man/test_site.py
