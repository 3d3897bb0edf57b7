#!/bin/sh
# SPDX-License-Identifier: MIT
# fuzz.sh - search with libFuzzer for sequences of calls on which the library and its model differ.
#
#   fuzz.sh SECONDS      called by `make fuzz`
#
# The search starts with the corpus of the repository.  Its findings, and a minimal corpus with the new
# sequences, stay in fuzz/ of the build directory.
set -u

seconds=${1:-60}
: "${top_srcdir:=$(cd "$(dirname "$0")/../../.." && pwd)}" "${top_builddir:=$PWD}"
. "$top_srcdir/tests/support/result.sh"
case $seconds in
  *[!0-9]* | 0) echo "fuzz.sh SECONDS, not $seconds" >&2 && exit 2 ;;
esac
here=$top_srcdir/tests/search/fuzz
work=$top_builddir/fuzz
clang=${FUZZ_CC:-clang}
flags='-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=undefined'
mkdir -p "$work" || exit 99

echo 'int LLVMFuzzerTestOneInput(const char *d, long n) { return (int)n * !d; }' > "$work/probe.c"
if ! "$clang" -fsanitize=fuzzer "$work/probe.c" -o "$work/probe" > "$work/probe.log" 2>&1; then
  skip "$clang has no libFuzzer (packages clang and libclang-rt-*-dev)"
fi
CC=$clang CFLAGS="$flags" "$here/build.sh" "$top_srcdir/src" "$work/replay" || exit 99
CC=$clang CFLAGS="$flags -fsanitize=fuzzer" \
  "$here/build.sh" "$top_srcdir/src" "$work/fuzz" fuzz_target.c || exit 99

rm -rf "$work/old" "$work/new" "$work/merged"
mkdir "$work/old" "$work/new" "$work/merged" || exit 99
python3 -B "$here/corpus.py" unpack "$here/corpus.txt" "$work/old" || exit 99

ASAN_OPTIONS=detect_stack_use_after_return=1
export ASAN_OPTIONS
"$work/fuzz" -max_total_time="$seconds" -max_len=300 -print_final_stats=1 \
  -artifact_prefix="$work/" "$work/new" "$work/old" > "$work/log" 2>&1
status=$?
# For a finding the sanitizer or libFuzzer prints a summary.
if [ "$status" -ne 0 ] && ! grep -q '^SUMMARY: ' "$work/log"; then
  tail -n 5 "$work/log"
  echo "COULD NOT RUN: the fuzzer: exit status $status"
  exit 2
fi
if [ "$status" -ne 0 ]; then
  found=$(sed -n 's/.*Test unit written to //p' "$work/log")
  "$work/replay" --words "$(python3 -B "$here/corpus.py" pack "$found")" 2>&1
  echo "fuzz: FOUND something: the bytes are in $work, all output is in $work/log"
  exit 1
fi
# -use_counters=0: otherwise the merge would keep far more sequences, one for each frequency of a line.
"$work/fuzz" -merge=1 -use_counters=0 "$work/merged" "$work/old" "$work/new" \
  > "$work/merge.log" 2>&1 || exit 99
{
  sed '/^# Found by libFuzzer/q' "$here/corpus.txt"
  python3 -B "$here/corpus.py" pack "$work"/merged/*
} > "$work/corpus.txt"
sed -n 's/^stat::\([a-z_]*\): */fuzz: \1 /p' "$work/log"
echo "ok: nothing found in $seconds s"
echo "fuzz: $(grep -vc '^#' "$here/corpus.txt") sequences were in the corpus," \
  "$(grep -vc '^#' "$work/corpus.txt") are in $work/corpus.txt"
