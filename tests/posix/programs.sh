#!/bin/sh
# SPDX-License-Identifier: MIT
# programs.sh - programs that nobody here wrote do the same under fairsem-run as without it.
#
# Called by `make check-programs`; about four minutes.  By hand, in a build directory:
# tests/posix/programs.sh.  A program that is missing, or that makes no semaphores, is skipped.
set -u
export LC_ALL=C

: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${top_builddir:=$PWD}"
run=$top_builddir/fairsem-run
FAIRSEM_MODULE=$top_builddir/.libs/fairsem-interpose.so
export FAIRSEM_MODULE
case ${CFLAGS-} in
  *-fsanitize*)
    echo "skipped: a sanitizer must be in the program, too"
    exit 77
    ;;
esac
if [ ! -x "$run" ] || [ ! -f "$FAIRSEM_MODULE" ]; then
  echo "skipped: fairsem-run and its module were not built"
  exit 77
fi
# Else nothing would differ.
if ! "$run" --check; then
  echo "FAILED: the module is not active in programs"
  exit 1
fi
mkdir -p "$top_builddir/tests"
work=$(mktemp -d "$top_builddir/tests/programs.XXXXXX") || exit 99
trap 'rm -rf "$work"' EXIT
passed=0 failed=0 skipped=0

ok() {
  echo "ok: $*"
  passed=$((passed + 1))
}

fail() {
  echo "FAILED: $*"
  failed=$((failed + 1))
}

skip() {
  echo "skipped: $*"
  skipped=$((skipped + 1))
}

# limited SECONDS COMMAND... - one that hangs must end, too.
limited() {
  if command -v timeout > /dev/null 2>&1; then
    timeout -k 10 "$@" < /dev/null
  else
    shift
    "$@" < /dev/null
  fi
}

# figure FILE - how many semaphores were created, as the statistics have it.
figure() {
  sed -n 's/^fairsem-run: semaphores created: \([0-9]*\),.*/\1/p' "$1"
}

# same NAME COMMAND... - the same output and status with and without; but what the command
# writes to stderr is only shown.
same() {
  name=$1
  shift
  if ! command -v "$1" > /dev/null 2>&1; then
    skip "$name: there is no $1"
    return
  fi
  limited 60 "$@" > "$work/plain" 2> "$work/plain.err"
  plain=$?
  if [ "$plain" -ne 0 ]; then
    tail -n 5 "$work/plain.err"
    skip "$name: does not run here, with nothing of ours (status $plain)"
    return
  fi
  rm -f "$work/stats"
  limited 60 "$run" --stats="$work/stats" "$@" > "$work/fair" 2> "$work/fair.err"
  fair=$?
  if [ "$fair" -ne 0 ]; then
    tail -n 20 "$work/fair.err"
    fail "$name: status $fair under fairsem-run"
  elif [ -z "$(figure "$work/stats")" ]; then
    cat "$work/stats"
    fail "$name: the statistics do not say how many semaphores there were"
  elif [ "$(figure "$work/stats")" = 0 ]; then
    skip "$name: makes no semaphores here"
  elif ! diff "$work/plain" "$work/fair"; then
    fail "$name: another output under fairsem-run (>)"
  else
    ok "$name, with $(figure "$work/stats") semaphores"
  fi
}

# ---------------------------------------------------------------- small ones
same "stress-ng, threads on a semaphore" stress-ng --quiet --sem 2 --timeout 2

# Semaphores of libuv and V8: to start and stop threads.
cat > "$work/threads.js" <<'_EOF'
const { Worker, isMainThread, parentPort } = require('worker_threads');
const crypto = require('crypto');
const fs = require('fs');

const hash = (n) => crypto.createHash('sha256').update(String(n)).digest('hex');

function inWorker(n) {
  return new Promise((resolve) => {
    const worker = new Worker(__filename);
    worker.once('message', (text) => worker.terminate().then(() => resolve(text)));
    worker.postMessage(n);
  });
}

function inPool(n) {
  return new Promise((resolve) => {
    crypto.pbkdf2('word' + n, 'salt', 1000, 16, 'sha1', (error, key) => {
      resolve(key.toString('hex'));
    });
  });
}

async function main() {
  console.log(await Promise.all([1, 2, 3, 4].map(inWorker)));
  console.log(await Promise.all([...Array(16).keys()].map(inPool)));
  const files = [...Array(32)].map(() => fs.promises.readFile(__filename));
  console.log((await Promise.all(files)).map((text) => text.length));
}

if (isMainThread) main();
else parentPort.on('message', (n) => parentPort.postMessage(hash(n)));
_EOF
same "node, workers and thread pool" node "$work/threads.js"

# Its collector stops the threads by a signal, and they post from the handler.
cat > "$work/collect.scm" <<'_EOF'
(use-modules (ice-9 threads))
(define (litter n)
  (let loop ((i 0) (list '()))
    (cond ((= i 200000) (+ n (length list)))
          ((> (length list) 5) (loop (+ i 1) '()))
          (else (loop (+ i 1) (cons i list))))))
(display (par-map litter (iota 8)))
_EOF
same "guile, a collector for threads" guile --no-auto-compile "$work/collect.scm"

# The encoder is of libvpx.  A positive speed would be its upper bound, chosen anew for each frame
# by how long the last ones took: the output would depend on the machine's load.
same "ffmpeg, VP8 in four threads" ffmpeg -nostdin -v error -f lavfi \
  -i testsrc2=size=1280x720:rate=25:duration=1 -c:v libvpx -deadline realtime -cpu-used -4 \
  -threads 4 -f framemd5 -

# ---------------------------------------------------------------- CPython
# All locks of CPython were semaphores up to 3.12.  Its own tests, one by one; those that are
# not there are left out.
tests="test_thread test_threading test_threadsignals test_threading_local
  test_threadedtempfile test_queue test_sched test_fork1 test_context test_weakref
  test_functools test_faulthandler test_logging"

# What came out of two runs.  Prints the modules in which a test differs.
cat > "$work/compare.py" <<'_EOF'
import re
import sys
import xml.etree.ElementTree


def outcomes(path):
    found = {}
    try:
        cases = list(xml.etree.ElementTree.parse(path).iter("testcase"))
    except (OSError, xml.etree.ElementTree.ParseError):
        cases = []
    for case in cases:
        tags = sorted(part.tag for part in case if not part.tag.startswith("system-"))
        found.setdefault(case.get("name"), []).append((case.get("result"), *tags))
    return {name: sorted(each) for name, each in found.items()}


plain, fair = outcomes(sys.argv[1]), outcomes(sys.argv[2])
differ = [name for name in sorted({*plain, *fair}) if plain.get(name) != fair.get(name)]
for name in differ:
    print(f"{name}: {plain.get(name)}, under fairsem-run {fair.get(name)}", file=sys.stderr)
print(f"{sum(map(len, plain.values()))} tests, {len(differ)} differ", file=sys.stderr)
modules = {module for name in differ for module in re.findall(r"\btest\.(test_\w+)", name)}
if differ or not plain:
    print(*(sorted(modules) or ["all"]))
_EOF

find_python() {
  for python in /usr/bin/python3 python3; do
    "$python" -c 'import test.test_threading' > /dev/null 2>&1 && return
  done
  return 1
}

# both_ways TEST... - into $work/plain.xml and $work/fair.xml; the result: $work/modules.
both_ways() {
  rm -f "$work/plain.xml" "$work/fair.xml"
  limited 200 "$python" -m test --timeout 120 --junit-xml "$work/plain.xml" "$@" \
    > "$work/plain" 2>&1
  limited 200 "$run" --stats="$work/stats" "$python" -m test --timeout 120 \
    --junit-xml "$work/fair.xml" "$@" > "$work/fair" 2>&1
  "$python" "$work/compare.py" "$work/plain.xml" "$work/fair.xml" > "$work/modules" \
    2> "$work/differ" || echo all > "$work/modules"
}

python_tests() {
  limited 60 "$run" --stats="$work/stats" "$python" -c \
    'import threading; threading.Thread(target=print).start()' > /dev/null 2>&1
  if [ "$(figure "$work/stats")" = 0 ]; then
    skip "$python: makes no semaphores"
    return
  fi
  # shellcheck disable=SC2046,SC2086 # lists of tests
  set -- $("$python" -c 'import importlib.util, sys
print(*(t for t in sys.argv[1:] if importlib.util.find_spec("test." + t)))' $tests)
  both_ways "$@"
  if grep -q . "$work/modules"; then
    cat "$work/differ"
    # They measure time, and the machine does other things as well: once more, both ways.
    modules=$(cat "$work/modules")
    # shellcheck disable=SC2086 # a list of tests
    [ "$modules" = all ] || set -- $modules
    echo "again: $*"
    both_ways "$@"
  fi
  if grep -q . "$work/modules"; then
    cat "$work/differ"
    tail -n 40 "$work/fair"
    fail "$python: its tests"
  else
    ok "$python, $(cat "$work/differ"), with $(figure "$work/stats") semaphores"
  fi
}

if find_python; then
  python_tests
else
  skip "python3: is not there, or without its tests (package libpython3.*-testsuite)"
fi

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] || exit 1
[ "$passed" -gt 0 ] || exit 77
