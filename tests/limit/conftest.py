# SPDX-License-Identifier: MIT
"""conftest.py - fixtures for cases that run fairsem-limit.

No case depends on the speed of the machine: a case waits until --status shows what the case needs.
"""

import os
import pty
import re
import shlex
import shutil
import signal
import subprocess
import tempfile

import pytest

from cases import TOP_BUILDDIR, TOP_SRCDIR, run, wait_until

LIMIT = os.path.join(TOP_BUILDDIR, "fairsem-limit")
# Control characters of terminals, which the status must not print.
OBEYED = "\033\x9b"


def in_manual(word):
    """Returns the first display of the manual page that has the word, as a reader sees the display."""
    with open(os.path.join(TOP_SRCDIR, "doc/man/fairsem-limit.1"), encoding="utf-8") as file:
        displays = re.findall(r"^\.Bd -literal.*\n((?:.*\n)*?)\.Ed", file.read(), re.M)
    return next(text for text in displays if word in text).replace("\\&", "").replace("\\(aq", "'")


def row(what, status, line, says=""):
    """A row of a table: fairsem-limit with this line ends with this status and message."""
    return pytest.param(status, line, says, id=what)


def unshared(*options, user="--map-current-user"):
    """Returns a command that makes these namespaces with our rights.  Skips the case if none can."""
    for command in ("unshare", *options), ("unshare", "--user", user, *options):
        if shutil.which("unshare") and run(*command, "true").returncode == 0:
            return command
    return pytest.skip("not here: a namespace: unshare " + " ".join(options))


def process_state(pid):
    """Returns the process's letter in /proc, or None if there is no such process."""
    try:
        with open("/proc/%s/stat" % pid, encoding="ascii", errors="replace") as file:
            return file.read().rsplit(")", 1)[1].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return None


def lives(pid):
    """Is the process alive?  A zombie is not."""
    return process_state(pid) not in (None, "Z")


def let_go(holder):
    holder.communicate(b"\n")


class Terminal:
    """A process, a command or a function, on a terminal of its own."""

    def __init__(self, *command, **options):
        self.seen, self.at = b"", 0
        self.pid, self.file = pty.fork()
        if self.pid == 0:
            try:
                # Tests under nohup ignore SIGHUP.  Tests in the background of a shell ignore SIGINT.
                for number in signal.SIGHUP, signal.SIGINT:
                    signal.signal(number, signal.SIG_DFL)
                if callable(command[0]):
                    command[0](*command[1:])
                else:
                    os.execvpe(command[0], command, options["env"])
            finally:
                os._exit(127)

    def write(self, text):
        os.write(self.file, text)

    def read_until(self, pattern=rb"(?!)"):
        """Wait for the pattern.  Returns the match, or None at the end.  Further text is for the next call."""
        while not (found := re.search(pattern, self.seen[self.at:], re.S)):
            try:
                more = os.read(self.file, 1000)
            except OSError:
                more = b""
            if not more:
                break
            self.seen += more
        self.at = self.at + found.end() if found else len(self.seen)
        return found

    def ends(self):
        """Returns the exit status, or minus the signal."""
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])

    def close(self):
        os.close(self.file)


class Limit:
    """fairsem-limit in this environment.

    Its arguments are a line, split as by a shell, and more words.  In both, @PROGRAM stands for
    fairsem-limit, @WORK for the directory of this case, and @DIR for the directory of the names.
    """

    def __init__(self, work, **env):
        if not os.access(LIMIT, os.X_OK):
            pytest.skip("fairsem-limit was not built")
        self.path, self.work, self.started = LIMIT, work, []
        self.env = {**os.environ, "TERM": "xterm", **env}
        self.dir = env.get("FAIRSEM_LIMIT_DIR")

    def segment(self, name="test"):
        return os.path.join(self.dir, "fairsem-limit-%d.%s" % (os.getuid(), name))

    def replaced(self, text):
        for word, value in ("@PROGRAM", self.path), ("@WORK", self.work), ("@DIR", self.dir):
            text = text.replace(word, str(value))
        return text

    def command(self, line, more):
        return [self.path, *map(self.replaced, (*shlex.split(line), *map(str, more)))]

    def run(self, line, *more, prefix=(), env=(), **options):
        return run(*prefix, *self.command(line, more), env={**self.env, **dict(env)}, **options)

    def gives(self, status, line, *more, says="", **options):
        """Run fairsem-limit.  Check its exit status, and the pattern in its message.  Returns its output."""
        ended = self.run(line, *more, **options)
        says = re.search(self.replaced(says), ended.stderr, re.M)
        assert ended.returncode == status and says, ended
        return ended.stdout

    def popen(self, command, env=(), **options):
        self.started.append(subprocess.Popen(command, env={**self.env, **dict(env)}, **options))
        return self.started[-1]

    def start(self, line, *more, stdin=subprocess.DEVNULL, **options):
        return self.popen(self.command(line, more), stdin=stdin, **options)

    def terminal(self, line, *more):
        return Terminal(*self.command(line, more), env=self.env)

    def shows(self, pattern, name="test"):
        return re.search(pattern, self.run("--status", name).stdout, re.M)

    def await_status(self, pattern, name="test"):
        return wait_until(pattern, lambda: self.shows(pattern, name))

    def hold(self, line="test 1", shown="running 1", name="test", **options):
        """Starts a holder that runs until let_go().  Its last argument has control characters."""
        holder = self.start(line + " -- sh -c 'read -r line' gate", OBEYED, stdin=subprocess.PIPE,
                            **options)
        self.await_status(shown, name)
        return holder

    def wait(self, number, line, *more, **options):
        """Starts a waiter, and returns when `number` commands wait."""
        waiter = self.start(line, *more, **options)
        self.await_status("waiting %d$" % number)
        return waiter

    def end(self):
        for process in self.started:
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
                process.wait()


@pytest.fixture
def limit(tmp_path):
    """fairsem-limit with a directory of names for this case alone.  Most cases use the name "test"."""
    # In sandboxes /dev/shm may be read-only.
    names = tempfile.mkdtemp(prefix="fairsem-limit-test.",
                             dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else tmp_path)
    os.chmod(names, 0o1777)
    made = Limit(tmp_path, FAIRSEM_LIMIT_DIR=names)
    try:
        try:
            os.close(os.open(names, os.O_TMPFILE | os.O_RDWR))
        except OSError as error:
            pytest.skip("a file system for segments: %s" % error)
        made.gives(0, "test 1 -- true")
        yield made
    finally:
        made.end()
        shutil.rmtree(names)
