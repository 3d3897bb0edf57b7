# SPDX-License-Identifier: MIT
# tests/release/package/local.mk - tests of the headers, the exported names, the installed files, their use by
# other programs, the examples and the benchmark, and of the consistency of the source; included by ../../local.mk.

test_scripts += \
	tests/release/package/configure.sh \
	tests/release/package/consistency.sh \
	tests/release/package/consumers.sh \
	tests/release/package/exports.sh \
	tests/release/package/install.sh \
	tests/release/package/layers.sh \
	tests/release/package/names.sh \
	tests/release/package/test_documents.py \
	tests/release/package/test_header.py
verify_scripts += \
	tests/release/package/bench.sh \
	tests/release/package/bindings.sh \
	tests/release/package/test_examples.py \
	tests/release/package/test_warnings.py
release_scripts += \
	tests/release/package/abi.sh \
	tests/release/package/amalgamation.sh
