#!/bin/sh
# SPDX-License-Identifier: MIT
# oss_fuzz.sh - packaging/oss-fuzz/build.sh makes a fuzzer and a corpus, with the variables that
# OSS-Fuzz sets; the fuzzer finds nothing in the library, and a seeded fault in a copy of it.
set -u

: "${top_srcdir:=$(cd "$(dirname "$0")/../../.." && pwd)}" "${top_builddir:=$PWD}"
. "$top_srcdir/tests/support/script.sh"
needs bash clang clang++ zip unzip

echo 'int LLVMFuzzerTestOneInput(const char *d, long n) { return (int)n * !d; }' > "$work/probe.c"
clang -fsanitize=fuzzer,address "$work/probe.c" -o "$work/probe" > "$work/log" 2>&1 ||
  skip "clang has no libFuzzer"

# fuzzer NAME - build the source in $work/NAME/src as OSS-Fuzz does, and run its corpus.
fuzzer() {
  cd "$work/$1" && mkdir out work corpus || exit 99
  flags='-O1 -fno-omit-frame-pointer -gline-tables-only -fsanitize=address,fuzzer-no-link'
  SRC=$PWD/src OUT=$PWD/out WORK=$PWD/work CC=clang CXX=clang++ CFLAGS=$flags CXXFLAGS=$flags \
    LIB_FUZZING_ENGINE=-fsanitize=fuzzer bash "$top_srcdir/packaging/oss-fuzz/build.sh" \
    > log 2>&1 || { cat log; fail "$1: build.sh" && exit 1; }
  unzip -q out/fairsem_calls_seed_corpus.zip -d corpus || exit 99
  # OSS-Fuzz passes what is in the file of options.
  out/fairsem_calls "-$(sed -n 's/ = /=/p' out/fairsem_calls.options)" -runs=500 corpus > log 2>&1
}

mkdir -p "$work/right/src/fairsem" "$work/wrong/src/fairsem" || exit 99
for copy in right wrong; do
  (cd "$top_srcdir" && cp -R include src tests "$work/$copy/src/fairsem") || exit 99
done
chmod -R u+w "$work/wrong"
needs python3
python3 "$top_srcdir/tests/search/mutants/generate.py" canary found-by-each-search \
  "$work/wrong/src/fairsem" || exit 99

if fuzzer right; then
  echo "ok: the fuzzer runs, and finds nothing in its corpus"
else
  cat log
  fail "the fuzzer"
fi
if fuzzer wrong; then
  fail "a seeded fault is not found"
elif grep -q '^SUMMARY: libFuzzer: deadly signal' log; then
  echo "ok: the fuzzer finds a seeded fault"
else
  cat log
  fail "the fuzzer ends, and has no finding"
fi
exit "$status"
