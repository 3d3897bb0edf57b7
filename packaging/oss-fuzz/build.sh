#!/bin/bash -eu
# SPDX-License-Identifier: MIT
# build.sh - what OSS-Fuzz runs in its container: the fuzz target, its corpus and its options, in $OUT.
#
# It sets SRC, OUT, WORK, CC, CXX, CFLAGS, CXXFLAGS and LIB_FUZZING_ENGINE.
# tests/release/package/oss_fuzz.sh does the same.
fuzz=$SRC/fairsem/tests/search/fuzz

LINK="$CXX $CXXFLAGS" LIBS=$LIB_FUZZING_ENGINE \
  "$fuzz/build.sh" "$SRC/fairsem/src" "$OUT/fairsem_calls" fuzz_target.c

mkdir -p "$WORK/corpus"
python3 -B "$fuzz/corpus.py" unpack "$fuzz/corpus.txt" "$WORK/corpus"
zip -q -j -r "$OUT/fairsem_calls_seed_corpus.zip" "$WORK/corpus"
printf '[libfuzzer]\nmax_len = 300\n' > "$OUT/fairsem_calls.options"
