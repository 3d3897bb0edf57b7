# SPDX-License-Identifier: MIT
# tests/package/local.mk - what users get: the header, what is exported and installed, how programs
# find it, the examples and the benchmark; and that the source agrees with itself; included by ../local.mk.

test_scripts += \
	tests/package/abi.sh \
	tests/package/amalgamation.sh \
	tests/package/bench.sh \
	tests/package/consistency.sh \
	tests/package/consumers.sh \
	tests/package/examples.sh \
	tests/package/exports.sh \
	tests/package/header.sh \
	tests/package/install.sh \
	tests/package/layers.sh \
	tests/package/links.sh \
	tests/package/names.sh \
	tests/package/warnings.sh
