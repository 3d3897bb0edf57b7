#!/bin/sh
# SPDX-License-Identifier: MIT
# programs.sh - programs of other projects do the same under fairsem-run as without it.
#
# `make check-programs` calls it; it takes about eight minutes.  By hand, in a build directory:
# tests/preload/programs.sh.  A program that is missing is not tried; with FAIRSEM_TRY_ALL=yes that
# is a failure.  At the end it prints the table of doc/real-programs.md.
set -u
export LC_ALL=C

: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${top_builddir:=$PWD}"
. "$top_srcdir/tests/support/result.sh"
run=$top_builddir/fairsem-run
FAIRSEM_MODULE=$top_builddir/.libs/fairsem-interpose.so
export FAIRSEM_MODULE
case ${CFLAGS-} in
  *-fsanitize*)
    not_here "with a sanitizer, the programs would need it, too"
    exit 77
    ;;
esac
if [ ! -x "$run" ] || [ ! -f "$FAIRSEM_MODULE" ]; then
  skip "fairsem-run and its module were not built"
fi
# Otherwise both runs would be the same.
if ! "$run" --check; then
  echo "FAILED: the module is not active in programs"
  exit 1
fi
mkdir -p "$top_builddir/tests"
work=$(mktemp -d "$top_builddir/tests/programs.XXXXXX") || exit 99
: > "$work/table"
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

# without WHAT - a program cannot be tried; if all must be, that is a failure.
without() {
  not_tried "$*"
  [ "${FAIRSEM_TRY_ALL-}" = yes ] || skipped=$((skipped + 1))
}

# figure FILE NAME - print one number of the statistics: created, waits or passed.
figure() {
  awk -v name="$2" '
    /^fairsem-run: semaphores created: / { found["created"] = $4 + 0 }
    /^passed through/ { found["passed"] = $5 + $7 + $11 }
    / all$/ { found["waits"] = $1 + 0; all = 1 }
    END { if (all) print found[name] }' "$1"
}

# milliseconds COMMAND... - its time is in $took, its status in $status.
milliseconds() {
  began=$(date +%s%N)
  "$@"
  status=$?
  took=$((($(date +%s%N) - began) / 1000000))
}

# row NAME VERSION USE COUNTS RESULT PLAIN FAIR - add a line to the table of doc/real-programs.md.
# The two times are in milliseconds.
row() {
  ratio=$(awk -v plain="$6" -v fair="$7" 'BEGIN { printf("%.2f", plain > 0 ? fair / plain : 0) }')
  echo "| $1 | $2 | $3 | $4 | $5 | $ratio ($6, $7 ms) |" >> "$work/table"
}

# first LINE - the version in what a program prints about itself.
version() {
  "$@" 2>&1 < /dev/null | sed -n '1s/[^0-9]*\([0-9][0-9.]*[0-9]\).*/\1/p'
}

as=             # what runs a program as another user

# same NAME VERSION USE COMMAND... - output and status are the same with fairsem-run as without;
# stderr is not compared.  The command runs three times each way, in turn; the best time counts.
same() {
  name=$1 version=$2 use=$3
  shift 3
  if ! command -v "$1" > /dev/null 2>&1; then
    without "$name: there is no $1"
    return
  fi
  best_plain=999999999 best_fair=999999999 result=equal
  for round in 1 2 3; do
    # shellcheck disable=SC2086 # a command
    milliseconds limited $as "$@" < /dev/null > "$work/plain" 2> "$work/plain.err"
    if [ "$status" -ne 0 ]; then
      tail -n 5 "$work/plain.err"
      without "$name: does not run here, even without fairsem-run (status $status)"
      return
    fi
    [ "$took" -ge "$best_plain" ] || best_plain=$took
    rm -f "$work/stats"
    : > "$work/stats" && chmod 666 "$work/stats"
    # shellcheck disable=SC2086
    milliseconds limited $as "$run" --stats="$work/stats" "$@" < /dev/null > "$work/fair" \
      2> "$work/fair.err"
    [ "$took" -ge "$best_fair" ] || best_fair=$took
    if [ "$status" -ne 0 ]; then
      tail -n 20 "$work/fair.err"
      result="status $status"
    elif [ -z "$(figure "$work/stats" created)" ]; then
      cat "$work/stats"
      result="no statistics"
    elif ! diff "$work/plain" "$work/fair"; then
      result="other output"
    fi
  done
  counts="$(figure "$work/stats" created) / $(figure "$work/stats" waits) / $(figure \
    "$work/stats" passed)"
  row "$name" "$version" "$use" "$counts" "$result" "$best_plain" "$best_fair"
  if [ "$result" = equal ]; then
    ok "$name: semaphores, waits, passed through: $counts"
  else
    fail "$name: $result in round $round"
  fi
}

# ---------------------------------------------------------------- JavaScript, Java, Lisp, .NET
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
same "Node.js, workers and thread pool" "$(version node --version)" \
  "start and end of threads (libuv, V8)" node "$work/threads.js"

# At each SIGQUIT the handler posts a semaphore, and the thread that this wakes prints all stacks.
# That goes to stdout, even into the middle of a line of it: the sums go to a file.
cat > "$work/Load.java" <<'_EOF'
import java.util.concurrent.*;

public class Load {
    public static void main(String[] args) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(4);
        java.util.List<Future<Long>> sums = new java.util.ArrayList<>();
        long self = ProcessHandle.current().pid();
        for (int i = 0; i < 40; i++) {
            final long n = i;
            sums.add(pool.submit(() -> {
                long sum = n;
                for (int k = 0; k < 300000; k++)
                    sum = sum * 31 + new int[8].length;
                return sum;
            }));
        }
        for (int i = 0; i < 20; i++) {
            new ProcessBuilder("kill", "-QUIT", "" + self).start().waitFor();
            System.gc();
        }
        try (java.io.PrintWriter out = new java.io.PrintWriter(args[0])) {
            for (Future<Long> sum : sums)
                out.println("sum " + sum.get());
        }
        pool.shutdown();
    }
}
_EOF
# shellcheck disable=SC2016 # for the other shell
same "OpenJDK, 20 times SIGQUIT under load" "$(version java -version)" \
  "its signal thread, woken in a handler" \
  sh -c 'java "$0" "$1" > /dev/null && cat "$1"' "$work/Load.java" "$work/sums"

# The collector stops the threads with a signal, and they post from the handler.
cat > "$work/collect.scm" <<'_EOF'
(use-modules (ice-9 threads))
(define (litter n)
  (let loop ((i 0) (list '()))
    (cond ((= i 200000) (+ n (length list)))
          ((> (length list) 5) (loop (+ i 1) '()))
          (else (loop (+ i 1) (cons i list))))))
(display (par-map litter (iota 8)))
_EOF
same "Guile, a collector for threads" "$(version guile --version)" \
  "the collector stops threads; their handlers post" \
  guile --no-auto-compile "$work/collect.scm"

cat > "$work/threads.lisp" <<'_EOF'
(let ((lock (sb-thread:make-mutex)) (sum 0))
  (mapc #'sb-thread:join-thread
        (loop for i below 4 collect
              (sb-thread:make-thread
               (lambda ()
                 (dotimes (k 20000)
                   (sb-thread:with-mutex (lock) (incf sum (length (make-list 10)))))
                 (sb-ext:gc)))))
  (print sum))
_EOF
same "SBCL, threads and the collector" "$(version sbcl --version)" \
  "threads are stopped at safepoints and by signals" sbcl --script "$work/threads.lisp"

cat > "$work/threads.cs" <<'_EOF'
using System;
using System.Threading;

class Threads {
    static int sum;
    static void Main() {
        var threads = new Thread[4];
        for (int i = 0; i < 4; i++) {
            threads[i] = new Thread(() => {
                for (int k = 0; k < 20000; k++) {
                    var litter = new byte[100];
                    Interlocked.Add(ref sum, litter.Length);
                    if (k % 5000 == 0) GC.Collect();
                }
            });
            threads[i].Start();
        }
        foreach (var thread in threads) thread.Join();
        using (var semaphore = new SemaphoreSlim(0)) {
            ThreadPool.QueueUserWorkItem(_ => semaphore.Release());
            semaphore.Wait();
        }
        Console.WriteLine(sum);
    }
}
_EOF
if command -v mcs > /dev/null 2>&1 &&
  mcs -out:"$work/threads.exe" "$work/threads.cs" > "$work/log" 2>&1; then
  same "Mono, threads and the collector" "$(version mono --version)" \
    "the collector stops threads by signals" mono "$work/threads.exe"
else
  without "mono: there is no mcs"
fi

# ---------------------------------------------------------------- codecs, keys
# With a positive speed, libvpx adapts to how long the last frames took: the output would depend on
# the load of the machine.
for codec in 'libvpx -deadline realtime -cpu-used -4' 'libx265 -preset ultrafast -x265-params
  log-level=none:pools=4' 'libsvtav1 -preset 10'; do
  # shellcheck disable=SC2086 # options
  SVT_LOG=0 same "ffmpeg, ${codec%% *} in four threads" "$(version ffmpeg -version)" \
    "rows of a frame, or stages, between threads" ffmpeg -nostdin -v error -f lavfi \
    -i testsrc2=size=640x360:rate=25:duration=1 -c:v $codec -threads 4 -f framemd5 -
done

# One agent, four clients at a time.
cat > "$work/sign.sh" <<'_EOF'
GNUPGHOME=$(mktemp -d) && export GNUPGHOME || exit 1
trap 'gpgconf --kill gpg-agent; rm -rf "$GNUPGHOME"' EXIT
chmod 700 "$GNUPGHOME"
gpg --batch --quiet --passphrase '' --quick-generate-key one@example.org ed25519 sign 1d || exit 1
signers=
for i in 1 2 3 4; do
  (echo "$i" | gpg --batch --quiet --sign | gpg --batch --quiet --decrypt 2> /dev/null \
    > "$GNUPGHOME/$i.out") &
  signers="$signers $!"
done
for signer in $signers; do
  wait "$signer" || exit 1
done
cat "$GNUPGHOME"/[1-4].out
_EOF
same "gpg-agent, 4 signatures at a time" "$(version gpg --version)" \
  "one lock around everything (npth)" sh "$work/sign.sh"

# ---------------------------------------------------------------- servers
# PostgreSQL refuses to run as root, and so does the sandbox of Chromium.
as_somebody=
if [ "$(id -u)" -eq 0 ] && command -v setpriv > /dev/null 2>&1; then
  as_somebody='setpriv --reuid=65534 --regid=65534 --clear-groups'
  chmod 755 "$work"
fi
cat > "$work/database.sh" <<'_EOF'
data=$(mktemp -d) || exit 1
trap 'pg_ctl -D "$data" -m immediate stop > /dev/null 2>&1; rm -rf "$data"' EXIT
PATH=$PATH:$(ls -d /usr/lib/postgresql/*/bin 2> /dev/null | tail -n 1)
initdb -D "$data" -A trust -U one > /dev/null 2>&1 || exit 1
pg_ctl -D "$data" -w -o "-k $data -c listen_addresses=" start > /dev/null 2>&1 || exit 1
ask() { psql -h "$data" -U one -At -d postgres -c "$1"; }
ask 'create table t (n bigint); insert into t values (0)' > /dev/null
askers=
for i in 1 2 3 4; do
  ask "do 'begin for k in 1..200 loop update t set n = n + 1; commit; end loop; end'" \
    > /dev/null &
  askers="$askers $!"
done
for asker in $askers; do
  wait "$asker" || exit 1
done
ask 'select n from t'
_EOF
as=$as_somebody
same "PostgreSQL, 4 clients" "$(version psql --version)" \
  "process-shared: passed through" env HOME=/tmp sh "$work/database.sh"
as=

cat > "$work/web.sh" <<'_EOF'
directory=$(mktemp -d) || exit 1
chmod 755 "$directory"
trap 'kill $(cat "$directory/pid"); rm -rf "$directory"' EXIT
echo 'it works' > "$directory/page"
cat > "$directory/conf" << END
pid $directory/pid;
error_log /dev/null;
worker_processes 2;
events { accept_mutex on; }
http {
  access_log off;
  client_body_temp_path $directory; proxy_temp_path $directory; fastcgi_temp_path $directory;
  uwsgi_temp_path $directory; scgi_temp_path $directory;
  server { listen unix:$directory/socket; root $directory; }
}
END
nginx -c "$directory/conf" -e /dev/null || exit 1
for i in 1 2 3 4 5 6 7 8; do
  curl --silent --unix-socket "$directory/socket" http://one/page || exit 1
done
_EOF
same "nginx, two workers" "$(version nginx -v)" \
  "process-shared: passed through" sh "$work/web.sh"

# ---------------------------------------------------------------- sound
# VLC refuses to run as root, too.  A tone of one second goes through its resampler.
cat > "$work/play.sh" <<'_EOF'
HOME=$(mktemp -d) && export HOME || exit 1
trap 'rm -rf "$HOME"' EXIT
awk 'BEGIN { for (i = 0; i < 88200; i++) printf("%c", 65 + i * i % 7) }' > "$HOME/in.raw"
cvlc -q -I dummy --demux rawaud --rawaud-samplerate 44100 --rawaud-channels 1 "$HOME/in.raw" \
  --sout "#transcode{acodec=s16l,samplerate=22050}:std{access=file,mux=wav,dst=$HOME/out.wav}" \
  vlc://quit
[ "$(wc -c < "$HOME/out.wav")" -gt 40000 ] && cksum < "$HOME/out.wav"
_EOF
as=$as_somebody
same "VLC, a tone resampled" "$($as cvlc --version 2> /dev/null |
  sed -n '1s/[^0-9]*\([0-9.]*\).*/\1/p')" \
  "wake-up of its threads" sh "$work/play.sh"

# Four clients play to two sinks, then one records silence.
cat > "$work/pulse.sh" <<'_EOF'
HOME=$(mktemp -d) && export HOME || exit 1
trap 'kill $server; wait $server; rm -rf "$HOME"' EXIT
XDG_RUNTIME_DIR=$HOME XDG_CONFIG_HOME=$HOME PULSE_SERVER=unix:$HOME/socket
export XDG_RUNTIME_DIR XDG_CONFIG_HOME PULSE_SERVER
pulseaudio -n --daemonize=no --use-pid-file=no --exit-idle-time=-1 \
  -L "module-native-protocol-unix auth-anonymous=1 socket=$HOME/socket" \
  -L 'module-null-sink sink_name=one' -L 'module-null-sink sink_name=two' &
server=$!
until pactl info > /dev/null 2>&1; do
  kill -0 $server || exit 1
  sleep 0.1
done
players=
for sink in one two one two; do
  head -c 44100 /dev/zero | pacat -d $sink --raw --channels=1 &
  players="$players $!"
done
for player in $players; do
  wait "$player" || exit 1
done
pactl list short sinks | cut -f 2
parec -d one.monitor --raw --channels=1 | head -c 40000 | cksum
_EOF
same "PulseAudio, four players, a recorder" "$(version pulseaudio --version)" \
  "its queues between threads" sh "$work/pulse.sh"

# Four clients, each of which is called for every buffer, in turn.
cat > "$work/jack.sh" <<'_EOF'
JACK_DEFAULT_SERVER=fairsem-$$ && export JACK_DEFAULT_SERVER
unset JACK_PROMISCUOUS_SERVER
trap 'kill $server; wait $server' EXIT
jackd -n "$JACK_DEFAULT_SERVER" --no-realtime --no-mlock -d dummy -r 48000 -p 256 > /dev/null 2>&1 &
server=$!
until jack_lsp > /dev/null 2>&1; do
  kill -0 $server || exit 1
  sleep 0.1
done
clients=
for i in 1 2 3 4; do
  jack_metro --bpm 200 --name "metro$i" > /dev/null 2>&1 &
  clients="$clients $!"
done
until [ "$(jack_lsp 2> /dev/null | grep -c metro)" -eq 4 ]; do
  sleep 0.1
done
for i in 1 2 3 4; do
  jack_connect "metro$i:200_bpm" system:playback_1 > /dev/null 2>&1 || exit 1
done
jack_lsp -c 2> /dev/null | sort
# shellcheck disable=SC2086 # a list
kill $clients
wait $clients
jack_lsp 2> /dev/null | grep metro
true
_EOF
same "JACK, the dummy driver, four clients" "$(version jackd --version)" \
  "start of threads, its messages" sh "$work/jack.sh"
as=

# ---------------------------------------------------------------- load
for threads in 4 64; do
  for how in "$threads" "1 --sem-procs $threads"; do
    # shellcheck disable=SC2086 # options
    same "stress-ng, --sem $how" "$(version stress-ng --version)" \
      "threads around one semaphore, for two seconds" \
      stress-ng --quiet --sem $how --timeout 2
  done
done

# operations COMMAND... - print how many operations stress-ng counts in a second.
operations() {
  "$@" --metrics-brief 2>&1 < /dev/null | awk '/ sem / { print int($9) }'
}

# stress-ng runs for a fixed time, so compare the operations, not the time.
compare_operations() {
  for how in '4' '64' '1 --sem-procs 4' '1 --sem-procs 64'; do
    for round in 1 2 3 4 5; do
      # shellcheck disable=SC2086 # options
      echo "$(operations stress-ng --sem $how --timeout 2)" \
        "$(operations "$run" stress-ng --sem $how --timeout 2)"
    done | sort -n > "$work/operations"
    awk -v how="$how" '{ plain[NR] = $1; fair[NR] = $2; ratio[NR] = $2 / $1 }
      END { for (i = 1; i <= NR; i++) for (k = i + 1; k <= NR; k++) if (ratio[k] < ratio[i]) {
              swap = ratio[i]; ratio[i] = ratio[k]; ratio[k] = swap }
            printf "stress-ng --sem %s: operations, with / without: %.2f (%.2f .. %.2f)\n", how,
              ratio[int((NR + 1) / 2)], ratio[1], ratio[NR] }' "$work/operations"
  done
}
command -v stress-ng > /dev/null 2>&1 && compare_operations

# ---------------------------------------------------------------- a browser in its sandbox
cat > "$work/page.py" <<'_EOF'
import http.server
import os
import signal
import subprocess
import sys
import tempfile
import threading

PAGE = b"""<script>
const source = 'onmessage = (e) => { let s = 0; for (let i = 0; i < 200000; i++)' +
  ' s = (s * 31 + i + e.data) | 0; postMessage([e.data, s]); }';
const url = URL.createObjectURL(new Blob([source]));
const sums = [];
let left = 6;
for (let i = 0; i < 6; i++) {
  const worker = new Worker(url);
  worker.onmessage = (e) => {
    sums[e.data[0]] = e.data[1];
    if (--left === 0) fetch('/done?' + sums.join(','));
  };
  worker.postMessage(i);
}
</script>"""
results, done = [], threading.Event()


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"" if self.path.startswith("/done") else PAGE)
        if self.path.startswith("/done"):
            results.append(self.path)
            done.set()

    def log_message(self, *args):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
with tempfile.TemporaryDirectory() as home:
    os.chmod(home, 0o777)
    command = sys.argv[1:] + ["--user-data-dir=" + home,
                              "http://127.0.0.1:%d/" % server.server_address[1]]
    browser = subprocess.Popen(command, start_new_session=True, stderr=subprocess.DEVNULL,
                               env={**os.environ, "HOME": home})
    done.wait()
    os.killpg(browser.pid, signal.SIGTERM)
    browser.wait()
print(results)
sys.exit(not results)
_EOF
as=$as_somebody
same "Chromium, its sandbox on, six workers" "$(chromium --version 2> /dev/null |
  sed -n 's/.*Chromium \([0-9.]*\).*/\1/p')" \
  "start and end of threads; renderers are in the sandbox" \
  /usr/bin/python3 "$work/page.py" chromium --headless --disable-gpu --disable-dev-shm-usage
as=

# ---------------------------------------------------------------- CPython
# All locks of CPython were semaphores up to 3.12.  These of its own tests run, if they exist.
tests="test_thread test_threading test_threadsignals test_threading_local
  test_threadedtempfile test_queue test_sched test_fork1 test_context test_weakref
  test_functools test_faulthandler test_logging"

# Compare the results of two runs.  Print the modules in which a test differs.
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

# both_ways TEST... - write $work/plain.xml and $work/fair.xml, and the modules that differ to
# $work/modules.
both_ways() {
  rm -f "$work/plain.xml" "$work/fair.xml"
  milliseconds limited "$python" -m test --timeout "$(hang_s)" --junit-xml "$work/plain.xml" "$@" \
    < /dev/null > "$work/plain" 2>&1
  plain_took=$took
  milliseconds limited "$run" --stats="$work/stats" "$python" -m test --timeout "$(hang_s)" \
    --junit-xml "$work/fair.xml" "$@" < /dev/null > "$work/fair" 2>&1
  fair_took=$took
  "$python" "$work/compare.py" "$work/plain.xml" "$work/fair.xml" > "$work/modules" \
    2> "$work/differ" || echo all > "$work/modules"
}

python_tests() {
  limited "$run" --stats="$work/stats" "$python" -c \
    'import threading; threading.Thread(target=print).start()' < /dev/null > /dev/null 2>&1
  if [ "$(figure "$work/stats" created)" = 0 ]; then
    not_here "$python makes no semaphores"
    return
  fi
  # shellcheck disable=SC2046,SC2086 # lists of tests
  set -- $("$python" -c 'import importlib.util, sys
print(*(t for t in sys.argv[1:] if importlib.util.find_spec("test." + t)))' $tests)
  both_ways "$@"
  if grep -q . "$work/modules"; then
    cat "$work/differ"
    # These tests measure time, and the machine may be busy: once more, both ways.
    modules=$(cat "$work/modules")
    # shellcheck disable=SC2086 # a list of tests
    [ "$modules" = all ] || set -- $modules
    echo "again: $*"
    both_ways "$@"
  fi
  counts="$(figure "$work/stats" created) / $(figure "$work/stats" waits) / $(figure \
    "$work/stats" passed)"
  result=equal
  ! grep -q . "$work/modules" || result="other outcomes"
  row "CPython, its own tests" "$(version "$python" --version)" "every lock" "$counts" \
    "$result: $(tail -n 1 "$work/differ")" "$plain_took" "$fair_took"
  if [ "$result" = equal ]; then
    ok "$python, $(tail -n 1 "$work/differ"), with $counts semaphores, waits, passed through"
  else
    cat "$work/differ"
    tail -n 40 "$work/fair"
    fail "$python: its tests"
  fi
}

if find_python; then
  python_tests
else
  without "python3: it is missing, or its tests are (package libpython3.*-testsuite)"
fi

echo
echo "| program | version | what its semaphores are for | created / waits / passed through |" \
  "result | time, with / without |"
echo "|---|---|---|---|---|---|"
cat "$work/table"
echo
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] || exit 1
[ "$passed" -gt 0 ] || skip "none of these programs is here"
