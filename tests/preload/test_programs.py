# SPDX-License-Identifier: MIT
"""Programs of other projects do the same under fairsem-run as without it.

`make check-programs` runs the programs, in about seven minutes.  At the end it prints the table of
doc/real-programs.md.
"""

import os
import re
import shlex
import shutil
import subprocess
import time
import xml.etree.ElementTree

import pytest

from cases import NOT_HERE, TOP_BUILDDIR, WORK, hang_s, limit_time, needs, run
from compiled import CFLAGS, LIBS, file

RUN, STATS = TOP_BUILDDIR + "/fairsem-run", WORK + "/stats"

NODE = """
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
"""
# At each SIGQUIT, Java's handler posts a semaphore, and the woken thread prints all stacks to stdout, even into
# the middle of a line.  So the program writes its sums to a file.
JAVA = """
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
"""
# The collector stops the threads with a signal; the threads post in the handler.
GUILE = """
(use-modules (ice-9 threads))
(define (litter n)
  (let loop ((i 0) (list '()))
    (cond ((= i 200000) (+ n (length list)))
          ((> (length list) 5) (loop (+ i 1) '()))
          (else (loop (+ i 1) (cons i list))))))
(display (par-map litter (iota 8)))
"""
SBCL = """
(let ((lock (sb-thread:make-mutex)) (sum 0))
  (mapc #'sb-thread:join-thread
        (loop for i below 4 collect
              (sb-thread:make-thread
               (lambda ()
                 (dotimes (k 20000)
                   (sb-thread:with-mutex (lock) (incf sum (length (make-list 10)))))
                 (sb-ext:gc)))))
  (print sum))
"""
MONO = """
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
"""
# One agent, four clients at a time.
GPG = r"""
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
"""
POSTGRESQL = r"""
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
"""
NGINX = """
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
"""
# A tone of one second goes through VLC's resampler.
VLC = r"""
HOME=$(mktemp -d) && export HOME || exit 1
trap 'rm -rf "$HOME"' EXIT
awk 'BEGIN { for (i = 0; i < 88200; i++) printf("%c", 65 + i * i % 7) }' > "$HOME/in.raw"
cvlc -q -I dummy --demux rawaud --rawaud-samplerate 44100 --rawaud-channels 1 "$HOME/in.raw" \
  --sout "#transcode{acodec=s16l,samplerate=22050}:std{access=file,mux=wav,dst=$HOME/out.wav}" \
  vlc://quit
[ "$(wc -c < "$HOME/out.wav")" -gt 40000 ] && cksum < "$HOME/out.wav"
"""
# Four clients play to two sinks, then one records silence.
PULSEAUDIO = r"""
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
"""
# Four clients; JACK calls each client in turn for every buffer.
JACK = """
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
"""
CHROMIUM = r'''
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
'''


@pytest.fixture(scope="module", autouse=True)
def table(request):
    """The rows of the table, which is printed at the end."""
    if any("-fsanitize" in flag for flag in CFLAGS):
        pytest.skip(NOT_HERE + "with a sanitizer, the programs would need it, too")
    if not os.path.exists(RUN) or not os.path.exists(LIBS + "/fairsem-interpose.so"):
        pytest.skip("fairsem-run and its module were not built")
    os.environ["FAIRSEM_MODULE"] = LIBS + "/fairsem-interpose.so"
    os.chmod(WORK, 0o755)
    # If fairsem-run did not work, both runs would be the same.
    assert run(RUN, "--check").returncode == 0
    rows = ["", "| program | version | what its semaphores are for | created / waits / passed through "
            "| result | time, with / without |", "|---|---|---|---|---|---|"]
    yield rows
    with request.config.pluginmanager.get_plugin("capturemanager").global_and_fixture_disabled():
        print("\n".join(rows))


def timed(command, name):
    """Returns status, output and milliseconds.  The output is a file, since processes that a program leaves behind
    would keep a pipe open."""
    limit_time()
    began = time.monotonic()
    with open(WORK + "/" + name, "wb+") as output, open(WORK + "/" + name + ".err", "wb+") as errors:
        status = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=output, stderr=errors,
                                check=False).returncode
        took = (time.monotonic() - began) * 1000
        output.seek(0)
        errors.seek(0)
        print(errors.read().decode(errors="replace")[-4000:])
        return status, output.read(), took


def counted():
    """The statistics as text: created / waits / passed through."""
    with open(STATS, encoding="utf-8") as file_of_stats:
        text = file_of_stats.read()
    created = re.search("^fairsem-run: semaphores created: (\\d+)", text, re.M)
    waits = re.search("^ *(\\d+) .* all$", text, re.M)
    assert created and waits, text
    passed = re.search("^passed through to libc: (\\d+) \\D*(\\d+) opened \\D*(\\d+) calls", text, re.M)
    return "%s / %s / %d" % (created[1], waits[1], sum(map(int, passed.groups())) if passed else 0)


def version(command):
    found = re.search("[0-9][0-9.]*[0-9]", run(*command, stderr=subprocess.STDOUT).stdout)
    return found[0] if found else ""


def with_stats(command):
    file("stats", "", 0o666)
    return [RUN, "--stats=" + STATS, *command]


def row(name, about, use, counts, result, plain, fair):
    return "| %s | %s | %s | %s | %s | %.2f (%d, %d ms) |" % (
        name, about, use, counts, result, fair / plain, plain, fair)


FFMPEG = ("env SVT_LOG=0 ffmpeg -nostdin -v error -f lavfi -i testsrc2=size=640x360:rate=25:duration=1"
          " -c:v %s -threads 4 -f framemd5 -")
# For each program: the use of its semaphores, the command for its version, its command, and the file for that.
PROGRAMS = {
    "Node.js, workers and thread pool":
        ("start and end of threads (libuv, V8)", "node --version", "node {file}", "threads.js", NODE),
    "OpenJDK, 20 times SIGQUIT under load":
        ("its signal thread, woken in a handler", "java -version",
         "sh -c 'java {file} {file}.sums > /dev/null && cat {file}.sums'", "Load.java", JAVA),
    "Guile, a collector for threads":
        ("the collector stops threads; their handlers post", "guile --version",
         "guile --no-auto-compile {file}", "collect.scm", GUILE),
    "SBCL, threads and the collector":
        ("threads are stopped at safepoints and by signals", "sbcl --version", "sbcl --script {file}",
         "threads.lisp", SBCL),
    "Mono, threads and the collector":
        ("the collector stops threads by signals", "mono --version",
         "sh -c 'test -f {file}.exe || mcs -out:{file}.exe {file}; mono {file}.exe'", "threads.cs",
         MONO),
    # A negative speed: with a positive one, libvpx adapts to the time of the last frames, and the output
    # depends on the load of the machine.
    **{"ffmpeg, %s in four threads" % codec.split()[0]:
       ("rows of a frame, or stages, between threads", "ffmpeg -version", FFMPEG % codec)
       for codec in ("libvpx -deadline realtime -cpu-used -4", "libsvtav1 -preset 10",
                     "libx265 -preset ultrafast -x265-params log-level=none:pools=4")},
    "gpg-agent, 4 signatures at a time":
        ("one lock around everything (npth)", "gpg --version", "sh {file}", "sign.sh", GPG),
    "PostgreSQL, 4 clients":
        ("process-shared: passed through", "psql --version", "env HOME=/tmp sh {file}", "database.sh",
         POSTGRESQL),
    "nginx, two workers":
        ("process-shared: passed through", "nginx -v", "sh {file}", "web.sh", NGINX),
    "VLC, a tone resampled":
        ("wake-up of its threads", "cvlc --version", "sh {file}", "play.sh", VLC),
    "PulseAudio, four players, a recorder":
        ("its queues between threads", "pulseaudio --version", "sh {file}", "pulse.sh", PULSEAUDIO),
    "JACK, the dummy driver, four clients":
        ("start of threads, its messages", "jackd --version", "sh {file}", "jack.sh", JACK),
    **{"stress-ng, --sem " + how:
       ("threads around one semaphore, for two seconds", "stress-ng --version",
        "stress-ng --quiet --timeout 2 --sem " + how)
       for how in ("4", "64", "1 --sem-procs 4", "1 --sem-procs 64")},
    "Chromium, its sandbox on, six workers":
        ("start and end of threads; renderers are in the sandbox", "chromium --version",
         "/usr/bin/python3 {file} chromium --headless --disable-gpu --disable-dev-shm-usage", "page.py",
         CHROMIUM),
}


# PostgreSQL refuses to run as root, and so do VLC and the sandbox of Chromium.
AS_SOMEBODY = ("psql", "cvlc", "pulseaudio", "jackd", "chromium")


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_same(name, table):
    """Compare output and status, three times with and without fairsem-run in turn; the best times count."""
    use, about, command, *of_file = PROGRAMS[name]
    tool = about.split()[0]
    needs(tool)
    somebody = []
    if tool in AS_SOMEBODY and os.getuid() == 0:
        somebody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    words = somebody + shlex.split(command.replace("{file}", file(*of_file) if of_file else ""))
    took = []
    for _ in range(3):
        status, output, plain = timed(words, "plain")
        if status != 0:
            pytest.skip("%s does not run here, even without fairsem-run (status %d)" % (name, status))
        status, same, fair = timed(somebody + with_stats(words[len(somebody):]), "fair")
        assert (status, same) == (0, output)
        counts = counted()
        took.append((plain, fair))
    table.append(row(name, version(somebody + about.split()), use, counts, "equal",
                     *map(min, zip(*took))))


# ---------------------------------------------------------------- CPython
# Up to 3.12, all locks of CPython are semaphores.  These tests of CPython run, if they are installed.
MODULES = """test_thread test_threading test_threadsignals test_threading_local test_threadedtempfile
    test_queue test_sched test_fork1 test_context test_weakref test_functools test_faulthandler
    test_logging""".split()
FIND = """import importlib.util, sys
print(*(name for name in sys.argv[1:] if importlib.util.find_spec("test." + name)))"""


def outcomes(path):
    found = {}
    for case in xml.etree.ElementTree.parse(path).iter("testcase"):
        tags = sorted(part.tag for part in case if not part.tag.startswith("system-"))
        found.setdefault(case.get("name"), []).append((case.get("result"), *tags))
    return {name: sorted(each) for name, each in found.items()}


def both_ways(python, modules):
    """Returns the number of tests, the names of the tests that differ, and the two times."""
    found, took = [], []
    for name in ("plain", "fair"):
        path = WORK + "/" + name + ".xml"
        command = [python, "-m", "test", "--timeout", str(hang_s()), "--junit-xml", path, *modules]
        took.append(timed(command if name == "plain" else with_stats(command), name)[2])
        found.append(outcomes(path))
    plain, fair = found
    assert plain
    differ = [name for name in sorted({*plain, *fair}) if plain.get(name) != fair.get(name)]
    return sum(map(len, plain.values())), differ, took


def test_cpython(table):
    python = next((path for path in ("/usr/bin/python3", "python3") if shutil.which(path)
                   and run(path, "-c", "import test.test_threading").returncode == 0), None)
    if python is None:
        pytest.skip("python3: it is missing, or its tests are (package libpython3.*-testsuite)")
    thread = "import threading; threading.Thread(target=print).start()"
    timed(with_stats([python, "-c", thread]), "fair")
    if counted().startswith("0 "):
        assert run(python, "-c", "import sys; sys.exit(sys.version_info < (3, 13))").returncode == 0
        pytest.skip(NOT_HERE + python + " makes no semaphores")
    tests, differ, took = both_ways(python, run(python, "-c", FIND, *MODULES).stdout.split())
    if differ:
        # These tests may measure time, and the machine may be busy: repeat their modules both ways.
        again = {module for name in differ for module in re.findall("\\btest\\.(test_\\w+)", name)}
        assert both_ways(python, sorted(again) or MODULES)[1] == []
    table.append(row("CPython, its own tests", version([python, "--version"]), "every lock", counted(),
                     "equal: %d tests" % tests, *took))
