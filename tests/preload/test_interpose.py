# SPDX-License-Identifier: MIT
"""fairsem-run makes a program's semaphores fair, passes through the semaphores that it must not change, reports
what it cannot do, and counts right.

The program is tests/preload/interposed.c, which does not use libfairsem.  No case depends on the speed of the
machine.
"""

import os
import re
import resource
import shlex
import shutil
import signal
import subprocess

import pytest

from cases import NOT_HERE, TOP_BUILDDIR, TOP_SRCDIR, WORK, needs, run
from compiled import CC, CFLAGS, INCLUDE, LIBS, file

PRELOAD = TOP_BUILDDIR + "/tests/preload"
RUN = os.environ.get("FAIRSEM_RUN") or TOP_BUILDDIR + "/fairsem-run"
MODULE = LIBS + "/fairsem-interpose.so"
PROGRAM = PRELOAD + "/interposed"
STATS, SCRIPT, TMP = WORK + "/stats", WORK + "/script", WORK + "/tmp"
# Set if the programs are for another machine than the shell and all other commands.
EMULATED = os.environ.get("FAIRSEM_TESTS_EMULATED")
# With --coverage, the programs count the lines that run, and write the counts when they end.
COUNTS_LINES = "--coverage" in CFLAGS
FULL = "/dev/full"

native = pytest.mark.skipif(bool(EMULATED), reason=NOT_HERE + "commands of the emulated machine")
full = pytest.mark.skipif(not os.path.exists(FULL), reason=NOT_HERE + "there is no " + FULL)


@pytest.fixture(scope="module", autouse=True)
def prepared():
    if not os.path.exists(RUN) or not os.path.exists(MODULE):
        pytest.skip("fairsem-run was not built (--disable-shared, or a sem_t that is too small)")
    if not os.path.exists(PROGRAM):
        pytest.skip("tests/preload/interposed was not built (make check builds it)")
    if any("-fsanitize" in word for word in CC + CFLAGS):
        pytest.skip(NOT_HERE + "a sanitizer's runtime must be loaded first")
    if re.search("[ :]", MODULE):
        pytest.skip(NOT_HERE + "a path with a space or a colon cannot be preloaded")
    if EMULATED == "other-order":
        pytest.skip(NOT_HERE + "the emulated machine has no mutexes with priority inheritance")
    os.mkdir(TMP)
    os.environ.update(TMPDIR=TMP, FAIRSEM_MODULE=MODULE)
    for name in ("LD_PRELOAD", "FAIRSEM_STATS_FILE"):
        os.environ.pop(name, None)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # Under nohup, and in a background command of a shell, these signals would stay ignored.
    for ignored in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
        signal.signal(ignored, signal.SIG_DFL)


@pytest.fixture(autouse=True)
def nothing_is_left():
    yield
    assert os.listdir(TMP) == [], "left in TMPDIR"


def does(status, command, **how):
    """Run a command, and return what it printed.  It must end with this exit status, or, if -N, by signal N."""
    done = run(*shlex.split(command), **how)
    if EMULATED:
        done.stderr = re.sub("^qemu: uncaught target signal.*\n", "", done.stderr, flags=re.M)
    last = (done.stdout or "").strip().split("\n")[-1]
    if done.returncode == 77 and last.startswith((NOT_HERE, "skipped: ")):
        pytest.skip(last.replace("skipped: ", "", 1))
    assert done.returncode == status, done.stdout + done.stderr
    return done


def says(text, pattern):
    return re.search(pattern, text, re.M) is not None


def short(command):
    return command.replace(RUN, "fairsem-run").replace(PROGRAM, "interposed").replace(WORK + "/", "")


def rows(names, *table):
    """Each row is a case; its last value is a command, which names the case."""
    values = [getattr(row, "values", row) for row in table]
    return pytest.mark.parametrize(names, table, ids=[short(row if isinstance(row, str) else row[-1])
                                                      for row in values])


def built(name, source, *options, compiler=(*CC, *CFLAGS)):
    """Build a program, and return its path.  If the compiler builds nothing with these flags, skip the case."""
    path = WORK + "/" + name
    made = run(*compiler, file(name + ".c", source), "-o", path, "-pthread", *options)
    if made.returncode != 0:
        flags = [option for option in options if option.startswith("-")]
        trivial = file("trivial.c", "int main(void) { return 0; }\n")
        assert run(*compiler, trivial, "-o", path, "-pthread", *flags).returncode != 0, made.stderr
        pytest.skip("%s, which cannot be built here" % name)
    return path


def shared_object(name, source):
    return built(name + ".so", source, "-fPIC", "-shared", "-ldl")


# ---------------------------------------------------------------- behaviors
@pytest.mark.parametrize("behavior", ["interrupts 200", "holds 4,2000", *"""
    fifo eintr eintr-awake eintr-destroyed fork-in-handler cancel deadlines overflow
    unmap destroy-with-waiters destroyed copies copies-of-destroyed not-libcs no-memory no-more-memory
    never-destroyed cells-used-again static-destructor faults
    static-zero pshared nonsense named mixed-kinds constructor
    relatives fork-child raw-fork signal-in-child generations vfork-exec
    actions jumps queued-signals without-tgkill signals-without-memory stop-the-world fetched-signals
    overflows sandbox forked-priority priorities made-real-time""".split()])
def test_behaves(behavior):
    assert does(0, RUN + " " + PROGRAM + " " + behavior).stderr == ""


@pytest.mark.parametrize("behavior", ("actions", "mixed-kinds", "fetched-signals", "overflows",
                                      "without-tgkill", "in-sandbox", "named"))
def test_libc_does_the_same(behavior):
    does(0, PROGRAM + " " + behavior)


def test_libc_has_other_semaphores():
    assert run(PROGRAM, "not-libcs").returncode == 1


@pytest.mark.skipif(COUNTS_LINES, reason=NOT_HERE + "most instructions would be those that count")
@rows("command", f"{RUN} {PROGRAM} stepped", f"{RUN} {PROGRAM} met", f"{PROGRAM} met")
def test_each_instruction_of_a_call(command):
    """Before each instruction: with `stepped` signals come, with `met` another thread uses the semaphore."""
    does(0, command)


# ---------------------------------------------------------------- with other libraries
# A library with a semaphore of its own.  It calls the functions that the loader finds for it.
LIBRARY = """
#include <semaphore.h>
#include <string.h>

static sem_t own;

__attribute__((constructor)) static void begin(void) { sem_init(&own, 0, 1); }
__attribute__((destructor)) static void end(void) { sem_destroy(&own); }

int use_semaphores(sem_t *other)
{
    return sem_wait(&own) != 0 || sem_trywait(&own) == 0 || sem_post(other) != 0;
}

int other_post(sem_t *sem) { return sem_post(sem); }
int other_wait(sem_t *sem) { return sem_wait(sem); }
int other_try(sem_t *sem) { return sem_trywait(sem); }

int other_value(sem_t *sem)
{
    int value = -1;

    return sem_getvalue(sem, &value) == 0 ? value : -1;
}

void *address_of_post(void)
{
    int (*post)(sem_t *) = sem_post;
    void *address;

    memcpy(&address, &post, sizeof address);
    return address;
}
"""


def test_a_module_comes_and_goes():
    does(0, f"{RUN} {PROGRAM} dlopen {shared_object('library', LIBRARY)}")


@native
@pytest.mark.parametrize("runner", ("", RUN), ids=("libc", "fairsem-run"))
@pytest.mark.parametrize("how", ("bound-deeply", "in-namespace"))
def test_two_copies_of_sem_post_for_one_semaphore(how, runner):
    does(0, f"{runner} {PROGRAM} {how} {shared_object('library', LIBRARY)}")


def from_here(name):
    with open(f"{TOP_SRCDIR}/tests/preload/{name}.c", encoding="ascii") as source:
        return shared_object(name, source.read())


def hook():
    return from_here("sigaction_hook")


@native
@pytest.mark.parametrize("stats", ("", "--stats=" + STATS), ids=("", "--stats"))
def test_a_library_that_begins_in_the_middle_of_our_start(stats):
    """The library uses semaphores there, and replaces the clocks by its own, of which the kernel does not know."""
    library = from_here("late_library")
    assert does(0, f"env LD_PRELOAD={library} {RUN} {stats} {PROGRAM} deadlines").stderr == ""


@native
@pytest.mark.parametrize("before", ("", MODULE + ":"), ids=("libc", "module"))
def test_interrupted_in_the_middle_of_sigaction(before):
    does(0, f"env LD_PRELOAD={before}{hook()} {PROGRAM} interrupted-actions")


@native
@pytest.mark.parametrize("runner", ("", RUN), ids=("libc", "fairsem-run"))
def test_a_library_that_chains_handlers(runner):
    """In front of the interposer, the library must see the program's handlers, not those that the kernel gets."""
    does(0, f"env LD_PRELOAD={hook()} {runner} {PROGRAM} chained-handlers")


@native
def test_what_is_preloaded_already_stays_in_front():
    before = shared_object("library", LIBRARY)
    done = does(0, f"env LD_PRELOAD={before} {RUN} sh -c 'echo $LD_PRELOAD'")
    assert done.stdout == f"{before}:{MODULE}\n"


# The program is correct, so the sanitizer must report nothing.  If the interposer came first, the sanitizer
# would see no semaphores.
ORDERED = """
#include <pthread.h>
#include <semaphore.h>

static sem_t unit, done;
static int data;

static void *add(void *arg)
{
    for (int i = 0; i < 1000; i++) {
        sem_wait(&unit);
        data++;
        sem_post(&unit);
    }
    sem_post(&done);
    return arg;
}

int main(void)
{
    pthread_t thread[2];

    sem_init(&unit, 0, 1);
    sem_init(&done, 0, 0);
    for (int i = 0; i < 2; i++)
        pthread_create(&thread[i], 0, add, 0);
    for (int i = 0; i < 2; i++)
        sem_wait(&done);
    if (data != 2000)
        return 1;
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], 0);
    return data == 2000 ? 0 : 1;
}
"""


@pytest.mark.parametrize("compiler, sanitizer, path", (
    ((*CC, *CFLAGS), ("-fsanitize=thread",), ""), ((*CC, *CFLAGS), ("-fsanitize=address",), ""),
    (("clang",), ("-fsanitize=address", "-shared-libsan"), "clang -print-runtime-dir")),
    ids=("thread", "address", "clang -shared-libsan"))
def test_a_program_with_a_sanitizer(compiler, sanitizer, path):
    needs(compiler[0])
    where = {**os.environ, "LD_LIBRARY_PATH": run(*shlex.split(path)).stdout.strip()} if path else None
    program = built("ordered", ORDERED, "-g", *sanitizer, compiler=compiler)
    if run(program, env=where).returncode != 0:
        pytest.skip("a program with %s, which does not run here" % sanitizer[0])
    assert does(0, f"{RUN} {program}", env=where).stderr == ""


# ---------------------------------------------------------------- the runner
def version():
    with open(TOP_SRCDIR + "/include/fairsem.h", encoding="ascii") as header:
        return re.search('FAIRSEM_VERSION_STRING "(.*)"', header.read()).group(1)


@rows("printed, command",
      (f" active: {MODULE}$", f"{RUN} --check"),
      ("^usage: fairsem-run", f"{RUN} --help"),
      (f"^fairsem-run {version()}$", f"{RUN} --version"),
      ("^fairsem-run [0-9]", f"{RUN} --vers"),
      ("^--help --version -- --stats=x$", f"{RUN} echo --help --version -- --stats=x"),
      ("^and-runs$", f"{RUN} --stats echo and-runs"))
def test_prints(printed, command):
    assert says(does(0, command).stdout, printed)


@rows("status, why, command",
      (125, "unrecognized option.*fair", f"{RUN} --fair {PROGRAM} exit 0"),
      (125, "unrecognized option.*fair", f"{RUN} --stats --fair true"),
      (125, "option.*check.* allow", f"{RUN} --check=1"),
      (125, "no program(.*\n)+Try '", RUN),
      (125, "no program", f"{RUN} --stats"),
      (125, "no program", f"{RUN} --"),
      *((125, "not a time", f"{RUN} --bypass='{time}' true")
        for time in ("", "0ms", "10", "-1ms", "10m", "10 ms", "nanms", "1e30s")),
      (125, "requires an argument", f"{RUN} --bypass"),
      (125, "--check runs no program", f"{RUN} --check true"),
      (125, "belongs to --stats", f"{RUN} --libc {PROGRAM} exit 0"),
      (125, "without --bypass", f"{RUN} --stats --libc --bypass=2ms {PROGRAM} exit 0"),
      (125, "cannot be loaded", f"env FAIRSEM_MODULE=/nonexistent {RUN} {PROGRAM} exit 0"),
      (125, "cannot be loaded", f"env FAIRSEM_MODULE=/nonexistent {RUN} --check"),
      (125, "space or a colon", f"env FAIRSEM_MODULE=/a:b {RUN} {PROGRAM} exit 0"),
      (125, "", f"{RUN} --stats=/nonexistent/file {PROGRAM} exit 0"),
      pytest.param(125, FULL + ": No space", f"{RUN} --stats={FULL} {PROGRAM} exit 0", marks=full),
      (127, "No such file", f"{RUN} /nonexistent/program"),
      (127, "No such file", f"{RUN} there-is-no-such-program-anywhere"),
      (127, "No such file", f"{RUN} --stats /nonexistent/program"),
      (126, "ermission denied", f"{RUN} {WORK}/text"),
      (126, "ermission denied", f"env PATH={WORK} {RUN} text"),
      (126, "", f"{RUN} {WORK}"))
def test_refuses(status, why, command):
    file("text", "echo hello\n")
    assert says(does(status, command).stderr, "^fairsem-run: .*" + why)


@full
def test_help_that_cannot_be_written_is_an_error():
    with open(FULL, "wb") as to:
        assert says(does(125, RUN + " --help", stdout=to).stderr, "^fairsem-run: .*standard output")


def test_a_module_that_makes_other_semaphores_is_refused():
    almost = shared_object("almost", "#include <semaphore.h>\n"
                                     "int sem_wait(sem_t *sem) { return sem_trywait(sem); }\n")
    done = does(125, f"env FAIRSEM_MODULE={almost} {RUN} --check")
    assert says(done.stderr, "^fairsem-run: .*is not active")


def test_a_shared_object_that_finds_the_functions_in_libc_is_refused():
    module = shared_object("library", LIBRARY)
    done = does(125, f"env FAIRSEM_MODULE={module} {RUN} {PROGRAM} exit 0")
    assert says(done.stderr, "^fairsem-run: ")


@rows("status, command",
      (7, f"{RUN} --stats={STATS} -- {PROGRAM} exit 7"),
      (0, f"{RUN} -- {PROGRAM} exit 0"),
      (0, f"env -u TMPDIR {RUN} --stats={STATS} {PROGRAM} exit 0"),
      (0, f"env PATH={PRELOAD}:/nowhere {RUN} interposed exit 0"),
      (0, f"env PATH={WORK}/directory:{PRELOAD} {RUN} interposed exit 0"),
      (0, f"env PATH=/nonexistent::/nowhere {RUN} interposed exit 0"),
      pytest.param(0, f"env -u PATH {RUN} true", marks=native),
      (23, f"{RUN} {PROGRAM} exit-in-thread"),
      *((code, f"{RUN} {stats} {PROGRAM} exit {code}")
        for stats in ("", "--stats") for code in (0, 1, 42, 125, 127, 255)),
      pytest.param(0, f"""{RUN} --stats={STATS} sh -c '[ $# -eq 3 ] && [ "$1" = "a  b" ] &&
                   [ "$2" = "" ] && [ "$3" = --stats ]' sh "a  b" "" --stats""", marks=native),
      (-signal.SIGSEGV, f"{RUN} {PROGRAM} die segv"),
      (-signal.SIGSEGV, f"{RUN} --stats {PROGRAM} die segv"),
      (-signal.SIGKILL, f"{RUN} --stats {PROGRAM} die kill"))
def test_ends_as_the_program_does(status, command):
    """A program is searched as by the shell: an empty entry of PATH, as between two colons, is this directory."""
    os.makedirs(WORK + "/directory/interposed", exist_ok=True)
    does(status, command, cwd=PRELOAD)


def test_fairsem_run_under_fairsem_run():
    """LD_PRELOAD then names the module twice; the loader must print no message."""
    assert does(3, f"{RUN} {RUN} {PROGRAM} exit 3").stderr == ""


# ---------------------------------------------------------------- scripts, and refused programs
@pytest.mark.parametrize("stats", ("", "--stats=" + STATS), ids=("", "--stats"))
@pytest.mark.parametrize("status, script", (
    pytest.param(0, f'#! /bin/sh\nexec "{PROGRAM}" not-libcs\n', marks=native),
    # execvp() runs such a file by the shell, and so do env and nice.
    (42, f'exec "{PROGRAM}" exit 42\n')), ids=("with #!", "without #!"))
def test_a_script(status, script, stats):
    does(status, f"{RUN} {stats} {file('script', script, 0o755)}")


@pytest.mark.parametrize("compiler, options, why", (
    (CC + CFLAGS, ("-static",), "statically"), (CC + CFLAGS, ("-static-pie",), "statically"),
    # The loader of musl would not resolve glibc's symbols in the module.
    (("musl-gcc",), (), "another C library")), ids=("-static", "-static-pie", "musl"))
def test_a_program_that_cannot_load_the_module_is_refused(compiler, options, why):
    needs(compiler[0])
    program = built("static", "int main(void) { return 0; }\n", *options, compiler=tuple(compiler))
    if run(program).returncode != 0:
        pytest.skip("%s, which does not run here" % (options or compiler)[0])
    script = file("script", f"#! \t{program}\n", 0o755)
    for command in (program, "--stats " + program, script):
        assert says(does(126, f"{RUN} {command}").stderr, "^fairsem-run: .*" + why)


@pytest.mark.skipif(os.getuid() != 0, reason=NOT_HERE + "set-user-ID, which only root can set")
@pytest.mark.parametrize("user, group, mode, status", (
    (65534, -1, 0o4755, 126), (-1, 65534, 0o2755, 126), (0, -1, 0o4755, 0), (65534, 65534, 0o755, 0)),
    ids=("another user", "another group", "the same user", "another without the bits"))
def test_a_program_that_gains_rights_is_refused(user, group, mode, status):
    other = shutil.copy(PROGRAM, WORK + "/other")
    try:
        os.chown(other, user, group)
        os.chmod(other, mode)
    except OSError as error:
        pytest.skip(NOT_HERE + "set-user-ID: %s" % error)
    done = does(status, f"{RUN} {other} exit 0")
    assert status == 0 or says(done.stderr, "^fairsem-run: .*gains rights")


# ---------------------------------------------------------------- statistics
def counted(text):
    """The counts: created, processes, shared, named, unknown, dangling, waits."""
    passed = "^passed through to libc: "
    found = (re.search(pattern, text, re.M) for pattern in (
        "semaphores created: (\\d+)", "in processes: (\\d+)", passed + "(\\d+)",
        passed + ".* (\\d+) opened", passed + ".* (\\d+) calls", "refused with EINVAL: *(\\d+)",
        "^ *(\\d+) .* all$"))
    return [int(each.group(1)) if each else 0 for each in found]


def from_file():
    with open(STATS, encoding="utf-8") as stats:
        text = stats.read()
    os.remove(STATS)
    return text


def listed(text):
    """The rows of waits: first for all semaphores, then for each of the ten with the longest waits.  A row is the
    number of waits, the times that half of them, 99 of 100, and all do not exceed, and the sum."""
    return [(int(waits), *map(float, times)) for waits, *times in
            re.findall("^ *(\\d+)" + 4 * " +([\\d.]+)" + "  ", text, re.M)]


@pytest.mark.parametrize("where", ("--stats", "--stats=FILE"))
@pytest.mark.parametrize("behavior, status, counts", (
    ("fifo", 0, [2, 1, 0, 0, 0, 0, 5]),
    ("eintr", 0, [2, 1, 0, 0, 0, 0, 1]),
    ("cancel", 0, [2, 1, 0, 0, 0, 0, 1]),
    ("vfork-exec", 0, [8, 4, 0, 0, 0, 0, 1]),
    ("destroyed", 0, [3, 1, 0, 0, 0, 0, 4]),
    ("static-zero", 0, [1, 1, 0, 0, 8, 0, 0]),
    ("pshared", 0, [1, 1, 1, 0, 13, 0, 0]),
    ("named", 0, [1, 1, 0, 3, 4, 0, 0]),
    ("overflow", 0, [2, 1, 0, 0, 0, 0, 0]),
    ("nonsense", 0, [5, 1, 0, 0, 0, 15, 0]),
    ("slow-waits", 0, [2, 1, 0, 0, 0, 0, 2]),
    ("eleven", 0, [12, 1, 0, 0, 0, 0, 11]),
    ("many", 0, [20001, 1, 0, 0, 0, 0, 1]),
    # The counts are right even if the program ends without running any code of its own at the end.
    ("exit-in-thread", 23, [2, 1, 0, 0, 0, 0, 1]),
    ("die kill", -signal.SIGKILL, [2, 1, 0, 0, 0, 0, 1]),
    ("die segv", -signal.SIGSEGV, [2, 1, 0, 0, 0, 0, 1])))
def test_counts(behavior, status, counts, where):
    """A constructor of the program creates one more semaphore in every process."""
    done = does(status, f"{RUN} {where.replace('FILE', STATS)} {PROGRAM} {behavior}")
    if where == "--stats":
        assert counted(done.stderr) == counts
    else:
        assert counted(from_file()) == counts and done.stderr == ""


def test_stats_have_the_times_of_the_waits():
    """Two waits of 50 ms: a row for all semaphores, and a row for the one."""
    does(0, f"{RUN} --stats={STATS} {PROGRAM} slow-waits")
    text = from_file()
    assert says(text, "^ *waits  *half <= ms  *99 % <= ms  *longest ms  *total ms  *semaphore$")
    assert len(listed(text)) == 2
    for waits, half, most, longest, total in listed(text):
        assert waits == 2 and longest >= 50 and total >= 100 and longest <= total <= 2 * longest + 1
        assert total / 2 - 1 <= most == longest and 50 <= half <= longest


def bound_ms(ms):
    bound = 1e-3
    while bound < ms:
        bound *= 2
    return round(bound, 3)


def test_stats_list_the_ten_longest_waits():
    does(0, f"{RUN} --stats={STATS} {PROGRAM} eleven")
    in_all, *rows = listed(from_file())
    longest = [row[3] for row in rows]
    assert len(longest) == 10 and longest == sorted(longest, reverse=True)
    # Half of the waits: up to the sixth of eleven.  Printed times are rounded.
    assert in_all[1] in [min(bound_ms(longest[5] + error), longest[0]) for error in (-5e-4, 5e-4)]
    assert in_all[2] == longest[0]


def test_what_has_no_statistics_of_its_own_counts_for_no_other():
    """Only the last of many semaphores has a wait, and it has no statistics of its own: no semaphore is listed."""
    assert ", by " not in does(0, f"{RUN} --stats {PROGRAM} many").stderr


@native
def test_stats_of_more_semaphores_than_have_room():
    """A process that is killed while it adds a record leaves a number of used records above the limit.  The script
    writes such a number, and one into the next field, the semaphores created."""
    script = file("script", "printf '\\377%.0s' 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 |\n"
                            'dd of="$FAIRSEM_STATS_FILE" bs=1 seek=16 conv=notrunc 2> /dev/null\n')
    assert f"created: {2 ** 64 - 1}, " in does(0, f"{RUN} --stats sh {script}").stderr


def test_stats_name_the_creator_of_a_semaphore():
    text = does(0, f"{RUN} --stats {PROGRAM} fifo").stderr
    assert says(text, "by interposed[(+]") and ", ?" not in text
    if any(flag.startswith("-g") for flag in CFLAGS) and shutil.which("addr2line"):
        assert says(text, "by interposed[(+].*, interposed[a-z_]*\\.c:[0-9]")


def test_stats_print_nothing_that_a_terminal_obeys():
    odd = shutil.copy(PROGRAM, WORK + "/odd\033[1mname")
    assert says(does(0, f"{RUN} --stats '{odd}' fifo").stderr, "by odd \\[1mname[(+]")


@pytest.mark.parametrize("behavior", ("hog", "eintr", "cancel", "fork-child", "destroyed",
                                      "static-destructor", "deadlines"))
def test_stats_count_a_bypass(behavior):
    """The hog takes its unit back while the victim waits."""
    text = does(0, f"{RUN} --bypass=2ms --stats {PROGRAM} {behavior}").stderr
    least = "[1-9]" if behavior == "hog" else "[0-9]"
    assert says(text, "^units taken while others waited, for at most 2.000 ms: " + least)


def test_stats_count_no_bypass_without_the_option():
    assert "while others waited" not in does(0, f"{RUN} --stats {PROGRAM} hog").stderr


def test_stats_tell_when_nothing_was_counted():
    """This program ends before the constructors of the module run."""
    early = built("early", """
#include <unistd.h>

static void leave(void)
{
    _exit(3);
}

__attribute__((section(".preinit_array"), used)) static void (*first)(void) = leave;

int main(void)
{
    return 0;
}
""")
    done = does(3, f"{RUN} --stats {early}")
    assert says(done.stderr, f"^fairsem-run: {early} did not load the interposer")


def test_stats_of_libcs_semaphores():
    """With --libc the waits are measured, but only for all semaphores together."""
    text = does(0, f"{RUN} --stats --libc {PROGRAM} slow-waits").stderr
    assert says(text, "^--libc: they stayed libc") and says(text, "^ *2 .*  all$")
    assert ", by " not in text


@pytest.mark.parametrize("library", ("libfairsem.so", "libfairsem.a"))
def test_stats_tell_that_a_program_has_the_library(library):
    """Even an archive, which the loader does not see, and a stripped program, which has no names."""
    if not os.path.exists(LIBS + "/" + library):
        pytest.skip(NOT_HERE + library + " was not built")
    program = built("header", """
#include <fairsem/posix.h>
int main(void) { sem_t s; return sem_init(&s, 0, 1) + sem_wait(&s); }
""", INCLUDE, LIBS + "/" + library, "-Wl,-rpath," + LIBS, "-s")
    assert says(does(0, f"{RUN} --stats {program}").stderr, "^the program has libfairsem: ")


def test_stats_do_not_tell_that_a_program_has_the_library():
    assert "libfairsem" not in does(0, f"{RUN} --stats {PROGRAM} exit 0").stderr


def begun(*command, **how):
    return subprocess.Popen((RUN, *command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0,
                            **how)


@pytest.mark.parametrize("ends_by", ("HUP", "INT", "QUIT", "TERM", "USR1", "USR2"))
def test_stats_are_printed_when_a_signal_ends_the_runner(ends_by):
    """The signal of a service manager or a terminal ends the runner and the program."""
    sent = signal.Signals["SIG" + ends_by]
    with begun("--stats=" + STATS, PROGRAM, "sleep") as runner:
        assert runner.stdout.readline() == b"ready\n"
        runner.send_signal(sent)
    assert runner.returncode == -sent and counted(from_file()) == [1, 1, 0, 0, 0, 0, 0]


@native
@pytest.mark.parametrize("ours, equal", ((True, "="), (False, "!=")), ids=("ours", "of another process"))
def test_what_systemd_gives_to_the_runner_is_for_the_program(ours, equal):
    """These variables say which process the descriptors and the watchdog of a service are for."""
    inner = f'[ "$LISTEN_PID" {equal} $$ ] && [ "$WATCHDOG_PID" {equal} $$ ] && [ "$LISTEN_FDS" = 1 ]'
    pid = "$$" if ours else "1"
    does(0, f"sh -c 'LISTEN_PID={pid} WATCHDOG_PID={pid} LISTEN_FDS=1 exec \"$@\"' sh"
            f" {RUN} --stats={STATS} sh -c {shlex.quote(inner)}")


@native
def test_the_program_goes_on_when_the_runner_is_killed():
    """The killed runner leaves the file of the statistics, so TMPDIR is another directory."""
    with begun("--stats", "cat", env={**os.environ, "TMPDIR": WORK}) as runner:
        for line in (b"one\n", b"two\n"):
            runner.stdin.write(line)
            assert runner.stdout.readline() == line
            runner.kill()
            runner.wait()


def test_stats_under_a_limit_for_files():
    """The limit is below the size of the file for statistics: an error, but no process is killed by SIGXFSZ."""
    done = does(125, f"{RUN} --stats {PROGRAM} exit 0",
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (512, 512)))
    assert "the file for statistics cannot be made" in done.stderr


@pytest.mark.skipif(COUNTS_LINES, reason=NOT_HERE + "what is counted is larger than the limit")
def test_stats_under_a_limit_for_files_that_may_be_raised():
    """The runner may raise the soft limit for itself; the program still has the limit."""
    most = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    does(0, f"{RUN} --stats={STATS} {PROGRAM} fsize",
         preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (512, most)))


@native
@rows("status, command", (42, f"{RUN} --stats={STATS} {PROGRAM} exit 42"), (0, f"{RUN} --check"),
      (0, f"{RUN} --stats={STATS} grep -q '^SigIgn:.*[13579bdf]....$' /proc/self/status"))
def test_where_sigchld_is_ignored(status, command):
    """The kernel then keeps no exit status to wait for.  For the program, SIGCHLD is still ignored."""
    does(status, command, preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))


# ---------------------------------------------------------------- exports
def test_the_module_exports_the_names_that_it_replaces_and_nothing_else():
    needs("nm")
    with open(TOP_SRCDIR + "/src/preload/interpose.map", encoding="ascii") as names:
        wanted = re.findall("^ *([_A-Za-z]*);", names.read(), re.M)
    exported = re.findall(" [^A] ([^@\n]*)", does(0, f"nm -D --defined-only {MODULE}").stdout)
    assert wanted and sorted(exported) == sorted(wanted)
