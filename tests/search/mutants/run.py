#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""run.py - runs the suites on seeded faults, and says which suite finds which fault: make check-mutants.

  run.py score [HASH...]     each mutant until a suite finds it; first the suites that find most in a second
  run.py score ideas         the mutants of ideas.txt
  run.py score orders        each memory order of src/core, relaxed, on the searches of `orders` alone
  run.py matrix [HASH...]    each mutant against all suites of its directory
  run.py report              prints the results file, by suite and by directory

Run it in the build directory, which must be configured.  From the environment:

  FOLDERS   of src/; the default is all   N, SEED   number and choice of mutants (400, 1)
  JOBS      workers (2)                   PART=K/N  one mutant in N, from the K-th on
  RESULTS   the file of results           ETCD, DEEP=yes  suites that need etcd, or much time, too
  LEAST     the percentage of mutants that must be found, not counting those in accepted.txt (100)

Results are lines of JSON, one for each mutant and suite.  Results in the file are not computed again, so a run
that was interrupted goes on.  Verdicts: killed, passed, hang (which counts as killed), "same code" (the compiler's
output is the same), "compile error", "could not run".  Mutants in accepted.txt are tried only if they are named.

The exit status is 1 if more mutants survive than LEAST allows.  It is 2 if the runner cannot be trusted: unchanged
sources fail, an emptied function is not found, or nothing is known of a mutant because a suite could not run.
"""
import collections
import contextlib
import ctypes
import fnmatch
import glob
import hashlib
import json
import multiprocessing
import os
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import generate  # noqa: E402

ENV = os.environ
TOP = os.path.abspath(ENV.get('top_srcdir') or os.path.join(HERE, '../../..'))
BUILD = os.path.abspath(ENV.get('top_builddir') or '.')
WORK = os.path.join(BUILD, 'tests/search/mutants/work')
BASE = os.path.join(WORK, 'base')
RESULTS = ENV.get('RESULTS') or os.path.join(BUILD, 'tests/search/mutants/results')
# These directories have the same suites as the core.
BELOW_CORE = ['awake', 'system', 'tools']
ALL_FOLDERS = ['core'] + BELOW_CORE + ['shared', 'posix', 'preload', 'run', 'limit', 'cluster']
CC, MAKE, JOBS = ENV.get('CC') or 'cc', ENV.get('MAKE') or 'make', int(ENV.get('JOBS') or 2)
# End a program at an access beyond an array, even beyond the last member of a struct, which sanitizers miss.
BOUNDS = '-fsanitize=bounds-strict -fsanitize-undefined-trap-on-error'
# These warnings are errors: the gate would find a mutant with such a warning.
ERRORS = ['-Werror=int-conversion', '-Werror=incompatible-pointer-types',
          '-Werror=implicit-function-declaration', '-Werror=return-type', '-Werror=stringop-overflow']
CHECK_TIMEOUT_S = 300           # of a test, with CK_TIMEOUT_MULTIPLIER=1: hang.h
HANGS = 2                       # after this many hangs a mutant gets less time
KILLED = ('killed', 'hang')


class CannotTrust(Exception):
    """Exit status 2."""


class CompileError(Exception):
    pass


# ---------------------------------------------------------------- suites
class Suite:
    """A line of suites.txt, or one of its programs."""

    def __init__(self, folder, kind, words):
        self.folder, self.kind, self.words, self.seconds = folder, kind, words, 1.0
        self.etcd = kind == 'etcd'
        if self.etcd:
            self.kind = 'script'
        self.needs = []
        if 'needs' in words:
            self.words, self.needs = words[:words.index('needs')], words[words.index('needs') + 1:]
        short = [os.path.basename(self.words[0])] + self.words[1:] if self.words else []
        self.name = ' '.join(([] if self.kind in ('program', 'script') else [self.kind]) + short)
        if self.kind == 'script':
            self.name = ' '.join(self.words).replace('tests/', '')

    def is_search(self):
        """Is the suite a search?  A search prints its findings; if it fails without a finding, it has not searched."""
        return self.kind in ('explore', 'dies', 'fuzz')


def read_suites():
    """The suites of each folder, and the functions that are emptied to test the runner."""
    suites, canaries = collections.defaultdict(list), {}
    with open(os.path.join(HERE, 'suites.txt'), encoding='utf-8') as file:
        lines = file.read().replace('\\\n', ' ').splitlines()
    for line in lines:
        words = line.split('#')[0].split()
        if not words:
            continue
        folder, kind, rest = words[0], words[1], words[2:]
        if kind == 'canary':
            canaries[folder] = rest[0]
        elif kind in ('program', 'tsan'):
            needs = rest[rest.index('needs'):] if 'needs' in rest else []
            without = [word[1:] for word in rest if word[0] == '-']
            for pattern in (word for word in rest[:len(rest) - len(needs)] if word[0] != '-'):
                paths = sorted(glob.glob(os.path.join(TOP, pattern + '.c')))
                if not paths:
                    raise CannotTrust(f'suites.txt: there is no {pattern}')
                for path in paths:
                    name = os.path.relpath(path, TOP)[:-2]
                    if not any(fnmatch.fnmatch(os.path.basename(name), w) for w in without):
                        suites[folder].append(Suite(folder, kind, [name] + needs))
        elif kind == 'deep':
            if ENV.get('DEEP') == 'yes':
                suites[folder].append(Suite(folder, rest[0], rest[1:]))
        elif kind != 'etcd' or ENV.get('ETCD') == 'yes':
            suites[folder].append(Suite(folder, kind, rest))
    suites.update({folder: suites['core'] for folder in BELOW_CORE})
    return suites, canaries


# ---------------------------------------------------------------- the build, and its commands
def run_quietly(command, log, **options):
    with open(log, 'ab') as out:
        if subprocess.run(command, stdout=out, stderr=out, stdin=subprocess.DEVNULL, check=False,
                          **options).returncode != 0:
            raise CannotTrust(f'cannot build: see {log}')


# These lists of mutants do not influence the result of a suite.
NO_INFLUENCE = {'accepted.txt', 'canaries.txt', 'ideas.txt'}
# Sources, and files that tests read.  A build in the source directory adds files with other endings.
SOURCES = ('.c', '.h', '.cpp', '.hpp', '.map', '.sh', '.py', '.txt', '.supp', '.mk', '.ac', '.am', '.m4')


def fingerprint():
    """A hash of everything that the build is made from, or that the suites read."""
    version = subprocess.run(shlex.split(CC) + ['--version'], stdout=subprocess.PIPE, check=True).stdout
    sums = hashlib.sha1(CC.encode() + version)
    paths = [os.path.join(TOP, name) for name in ('configure.ac', 'Makefile.am')]
    for top in ('src', 'include', 'tests', 'bench', 'packaging/m4'):
        for place, folders, names in os.walk(os.path.join(TOP, top)):
            folders[:] = [name for name in folders if name != '__pycache__' and '.' not in name]
            paths += [os.path.join(place, name) for name in names
                      if name.endswith(SOURCES) and name not in NO_INFLUENCE]
    for path in sorted(paths):
        with open(path, 'rb') as file:
            sums.update(path[len(TOP):].encode() + file.read())
    return sums.hexdigest()[:12]


def targets_of(suites):
    """The targets that make has to build."""
    targets = set()
    for suite in suites:
        own = {'program': suite.words, 'tsan': suite.words, 'fuzz': ['tests/search/fuzz/replay']}
        targets |= set(own.get(suite.kind, [])) | set(suite.needs)
    return sorted(targets)


def build_base(suites):
    """Build the unchanged sources once.  A script in place of CC records each command."""
    shutil.rmtree(WORK, ignore_errors=True)
    os.makedirs(BASE)
    log, noted = os.path.join(WORK, 'build.log'), os.path.join(BASE, 'commands')
    cc = os.path.join(BASE, 'cc')
    with open(cc, 'w', encoding='utf-8') as file:
        # -g0: without debugging information, an object differs only if its code differs.
        # Each process writes a file of its own ($$): in one file, lines of several processes would mix.
        file.write('#!/bin/sh\n{ printf %s "$PWD"; printf "\\037%s" "$@"; echo; } >> '
                   f'{shlex.quote(noted)}/$$\nexec {CC} "$@" -g0\n')
    os.chmod(cc, 0o755)
    os.mkdir(noted)
    env = {k: v for k, v in ENV.items() if k not in ('MAKEFLAGS', 'MFLAGS', 'MAKELEVEL', 'CFLAGS')}
    env.update(CC=cc, LC_ALL='C')
    source, plain = os.path.join(BASE, 'source'), os.path.join(BASE, 'plain')
    run_quietly([MAKE, '-s', 'distdir', 'distdir=' + source], log, cwd=BUILD, env=env)
    subprocess.run(['chmod', '-R', 'u+w', source], check=True)
    os.mkdir(plain)
    run_quietly(['../source/configure', '-q', '--enable-tests', f'CFLAGS=-O1 {BOUNDS}'], log, cwd=plain,
                env=env)
    shutil.rmtree(noted)
    os.mkdir(noted)
    if targets_of(suites):              # not needed for explorers
        run_quietly([MAKE, '-s', f'-j{JOBS}'] + targets_of(suites), log, cwd=plain, env=env)
    for kind, name in (('explore', 'core'), ('dies', 'shared')):
        if any(suite.kind == kind for suite in suites):
            # The explorer's own objects are linked into one optimized object, so that the link of a mutant is fast.
            for out, explorer in ((kind + '.whole', ''), (kind, os.path.join(BASE, kind + '.whole'))):
                run_quietly(['sh', f'{source}/tests/search/{name}/build.sh', f'{source}/src',
                             os.path.join(BASE, out)], log, env=dict(env, EXPLORER=explorer))


class Step:
    """A command that makes `output` from `inputs`.  Paths are relative to a tree: BASE or a copy of it."""

    def __init__(self, directory, words, output, inputs):
        self.directory, self.words, self.output, self.inputs = directory, words, output, inputs


def within(directory, path):
    return os.path.relpath(os.path.normpath(os.path.join(BASE, directory, path)), BASE)


class Steps:
    """The recorded commands, and the dependencies in them."""

    def __init__(self):
        self.of, self.members, self.includes = {}, {}, {}
        for name in sorted(glob.glob(os.path.join(BASE, 'commands', '*'))):
            with open(name, encoding='utf-8') as file:
                lines = file.readlines()
            for line in lines:
                words = line.rstrip('\n').split('\037')
                directory, words = os.path.relpath(words[0], BASE), words[1:]
                if '-c' in words:
                    self.add_compilation(directory, words)
                elif '-o' in words:
                    self.add_link(directory, words)
        for step in list(self.of.values()):
            for path in step.inputs:
                if path.endswith('.a') and path not in self.members:
                    self.members[path] = self.members_of(path)

    def add_compilation(self, directory, words):
        sources = [word for word in words if word.endswith('.c')]
        rest, skip = [], 0
        for word in words:              # without options that write dependencies
            if skip or word in ('-MT', '-MF', '-o', '-MD', '-MP', '-MMD', '-c') or word in sources:
                skip = not skip and word in ('-MT', '-MF', '-o')
                continue
            rest.append(word)
        for source in sources:
            output = words[words.index('-o') + 1] if '-o' in words \
                else os.path.basename(source)[:-2] + '.o'
            new = Step(directory, rest + ERRORS + ['-g0', '-c', source, '-o', output],
                       within(directory, output), [within(directory, source)])
            self.of[new.output] = new

    def add_link(self, directory, words):
        # The installed static libraries hide names.  The internal ones, archives of objects, work as well.
        words = [re.sub(r'^.*/libfairsem(-cluster)?\.a$',
                        lambda m: './.libs/libcluster.a' if m[1] else './.libs/libcore.a', word)
                 for word in words]
        output = within(directory, words[words.index('-o') + 1])
        inputs = [within(directory, word) for word in words if re.search(r'\.(o|a|so)$', word)
                  and not word.startswith('-') and within(directory, word) != output]
        self.of[output] = Step(directory, words, output, inputs)

    def members_of(self, archive):
        """The objects of an archive, found by their contents, because names may occur twice."""
        by_name, found = collections.defaultdict(list), []
        for path in self.of:
            if path.endswith('.o'):
                by_name[os.path.basename(path)].append(path)
        names = subprocess.run(['ar', 't', os.path.join(BASE, archive)], check=True,
                               stdout=subprocess.PIPE, text=True).stdout.split()
        for name in names:
            contents = subprocess.run(['ar', 'p', os.path.join(BASE, archive), name], check=True,
                                      stdout=subprocess.PIPE).stdout
            for path in by_name[name]:
                with open(os.path.join(BASE, path), 'rb') as file:
                    if file.read() == contents:
                        found.append(path)
                        break
        return found

    def add_tsan(self, program):
        """Add the steps that make this program with the sanitizer, and run them."""
        base = self.of[within('plain', program)]
        objects = [path for path in base.inputs if path.endswith('.o')]
        for path in base.inputs:
            objects += self.members.get(path, [])
        inputs = []
        for path in objects:
            output = 'tsan/' + path
            inputs.append(output)
            if output not in self.of:
                step = self.of[path]
                words = [w for w in step.words if not w.startswith('-fsanitize')]
                words[words.index('-o') + 1] = os.path.join(BASE, output)
                self.of[output] = Step(step.directory, words + ['-fsanitize=thread', '-Wno-tsan'], output,
                                       step.inputs)
        output = 'tsan/plain/' + program
        words = [w for w in base.words if not re.search(r'\.[oa]$|^-fsanitize', w)]
        at = words.index('-o')
        words[at:at + 2] = ['-fsanitize=thread', '-o', os.path.join(BASE, output)] + [
            os.path.join(BASE, path) for path in inputs]
        self.of[output] = Step(base.directory, words, output, inputs)
        for path in inputs + [output]:
            if not os.path.exists(os.path.join(BASE, path)):
                os.makedirs(os.path.dirname(os.path.join(BASE, path)), exist_ok=True)
                self.run(self.of[path], BASE)

    def run(self, step, tree):
        words = [word.replace(BASE, tree) for word in step.words]
        done = subprocess.run(shlex.split(CC) + words, cwd=os.path.join(tree, step.directory), check=False,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)
        if done.returncode != 0:
            raise CompileError(done.stdout.decode(errors='replace')[-400:])

    def sources_of(self, file, seen):
        """This file, and all files of the library that it includes, as a set.  `seen` is the set so far."""
        if file in seen or not os.path.exists(os.path.join(BASE, file)):
            return seen
        seen.add(file)
        if file not in self.includes:
            with open(os.path.join(BASE, file), encoding='utf-8') as text:
                self.includes[file] = re.findall(r'^\s*#\s*include\s+"([^"]+)"', text.read(), re.M)
        for name in self.includes[file]:
            for place in (os.path.dirname(file), 'source/src', 'source/src/core', 'source/src/cluster'):
                path = os.path.normpath(os.path.join(place, name))
                # A test is not compiled again if a header has the mutant: the mutant must not change the test.
                if path.startswith('source/src/') and (file.startswith('source/src/')
                                                       or path.endswith('.c')):
                    self.sources_of(path, seen)
        return seen


# ---------------------------------------------------------------- one worker
def cpu_seconds():
    """The processor time of all children that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def limits(sanitized):
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 28, 1 << 28))
    if not sanitized:                   # a sanitizer reserves terabytes of addresses
        resource.setrlimit(resource.RLIMIT_AS, (1 << 33, 1 << 33))


class Worker:
    """A worker with a copy of BASE, in which it makes one mutant after the other."""

    def __init__(self, number, steps):
        self.tree, self.steps = os.path.join(WORK, f'worker.{number}'), steps
        self.changed, self.state, self.touched = set(), {}, set()
        self.out = os.path.join(WORK, f'out.{number}')
        self.mark = self.tree + '.mutated'      # exists while the tree has a mutant, even after an interrupted run
        if os.path.exists(self.mark):
            shutil.rmtree(self.tree, ignore_errors=True)
            os.remove(self.mark)
        if not os.path.exists(self.tree):
            subprocess.run(['cp', '-Rp', BASE, self.tree + '.new'], check=True)
            os.rename(self.tree + '.new', self.tree)
        os.makedirs(os.path.join(self.tree, 'tmp'), exist_ok=True)
        libc = ctypes.CDLL(None, use_errno=True)
        libc.prctl(36, 1, 0, 0, 0)      # PR_SET_CHILD_SUBREAPER, to reap the processes that a suite leaves
        # Each worker has its own /dev/shm if possible (CLONE_NEWNS, MS_REC | MS_PRIVATE), because two workers may
        # use the same name, and a killed test leaves files.
        if libc.unshare(0x20000) == 0 and libc.mount(b'none', b'/', None, 0x44000, None) == 0:
            libc.mount(b'none', b'/dev/shm', b'tmpfs', 0, b'size=1g')

    # ---- building
    def bring(self, path):
        """Bring this file up to date.  Returns True if it differs from the file of the unchanged sources."""
        if path not in self.state:
            self.state[path] = self.bring_new(path)
        return self.state[path]

    def bring_new(self, path):
        if path in self.steps.members:
            new = [member for member in self.steps.members[path] if self.bring(member)]
            if new:
                self.touched.add(path)
                subprocess.run(['ar', 'r', path] + new, cwd=self.tree, check=True,
                               stderr=subprocess.DEVNULL)
            return bool(new)
        step = self.steps.of.get(path)
        if step is None:
            return False
        if path.endswith('.o'):
            if not self.steps.sources_of(step.inputs[0], set()) & self.changed:
                return False
            self.touched.add(path)
            self.steps.run(step, self.tree)
            with open(os.path.join(self.tree, path), 'rb') as new, \
                    open(os.path.join(BASE, path), 'rb') as old:
                return new.read() != old.read()
        if not any([self.bring(each) for each in step.inputs]):
            return False
        self.touched.add(path)
        self.steps.run(step, self.tree)
        return True

    def mutate(self, mutant):
        path = 'source/' + mutant.file
        with open(self.mark, 'w', encoding='utf-8'):
            pass
        self.changed, self.state, self.touched = {path}, {}, {path}
        with open(os.path.join(self.tree, path), 'w', encoding='utf-8') as file:
            file.write(mutant.mutated())

    def restore(self):
        for path in self.touched:
            shutil.copy2(os.path.join(BASE, path), os.path.join(self.tree, path))
        self.changed, self.state, self.touched = set(), {}, set()
        os.remove(self.mark)

    # ---- running
    def targets(self, suite):
        own = {'explore': 'explore', 'dies': 'dies', 'fuzz': 'plain/tests/search/fuzz/replay',
               'tsan': 'tsan/plain/' + (suite.words + [''])[0], 'script': None}
        first = own.get(suite.kind, 'plain/' + (suite.words + [''])[0])
        return ([first] if first else []) + [
            'plain/' + re.sub(r'([^/]*)\.la$', r'.libs/\1.so', need) for need in suite.needs]

    def command(self, suite):
        targets = [os.path.join(self.tree, path) for path in self.targets(suite)]
        if suite.kind == 'script':
            words = [os.path.join(self.tree, 'source', suite.words[0])] + suite.words[1:]
            if words[0].endswith('.py'):
                words.insert(0, os.path.join(self.tree, 'source/tests/support/pytest.sh'))
            return ['sh'] + words
        if suite.kind == 'fuzz':
            return [targets[0], os.path.join(self.tree, 'source/tests/search/fuzz/corpus.txt')]
        return [targets[0]] + (suite.words if suite.kind in ('explore', 'dies') else [])

    def kill_all(self):
        """Kill all processes that the suite has left, whatever their process group."""
        until = time.monotonic() + 20
        while time.monotonic() < until:
            parents = {}
            for name in os.listdir('/proc'):
                if name.isdigit():
                    with contextlib.suppress(OSError, IndexError), \
                            open(f'/proc/{name}/stat', encoding='utf-8', errors='replace') as file:
                        parents[int(name)] = int(file.read().rsplit(')', 1)[1].split()[1])
            ours, before = {os.getpid()}, 0
            while len(ours) != before:
                before = len(ours)
                ours |= {pid for pid, parent in parents.items() if parent in ours}
            ours.remove(os.getpid())
            if not ours:
                return
            for pid in ours:
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0] != 0:
                    pass
            time.sleep(0.01)

    def run(self, suite, most):
        """Returns (verdict, seconds, failed tests)."""
        env = dict(ENV, CK_TIMEOUT_MULTIPLIER=str(0.75 * most / CHECK_TIMEOUT_S), LC_ALL='C',
                   TSAN_OPTIONS='halt_on_error=1', top_srcdir=os.path.join(self.tree, 'source'),
                   top_builddir=os.path.join(self.tree, 'plain'), STOP_EARLY='yes', CC=CC, CFLAGS='',
                   TMPDIR=os.path.join(self.tree, 'tmp'))
        begun, used, status = time.monotonic(), cpu_seconds(), None
        with open(self.out, 'wb') as out, subprocess.Popen(
                self.command(suite), cwd=os.path.join(self.tree, 'plain'), env=env,
                stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True,
                preexec_fn=lambda: limits(suite.kind == 'tsan')) as process:
            try:
                status = process.wait(most)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        seconds = round(time.monotonic() - begun, 2)
        self.kill_all()
        self.cpu = round(cpu_seconds() - used, 2)
        with open(self.out, encoding='utf-8', errors='replace') as out:
            said = out.read(1 << 20)
        tests = re.findall(r'^[^:\n]*:\d+:[FE]:[^:]*:([^:]*):|^FAILED: (.*)|^FOUND: (.*)'
                           r'|^(\S+)\s.*  FAILED$|^(\S+): FAILED: |^(?:FAILED|ERROR) \S*::(.*)', said, re.M)
        tests = list(dict.fromkeys(''.join(test)[:60] for test in tests))[:12]
        if status == 0:
            return 'passed', seconds, []
        if suite.is_search() and not (status == 1 and re.search(r': FAILED: |^FOUND: ', said, re.M)) \
                or status in (77, 99, 126, 127):
            return 'could not run', seconds, [f'exit status {status}: {said[-200:]}']
        return ('hang' if status is None else 'killed'), seconds, tests

    def suite(self, suite, hangs):
        """Returns (verdict, seconds, tests)."""
        self.cpu = 0
        if not any([self.bring(path) for path in self.targets(suite)]):
            return 'same code', 0, []
        most = max(20, 10 * suite.seconds) if hangs < HANGS else max(5, 3 * suite.seconds)
        return self.run(suite, most)


def worker(number, steps, jobs, results):
    self = Worker(number, steps)

    def stop(*_):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        self.kill_all()
        os._exit(1)

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, stop)
    kills, spent = collections.Counter(), collections.Counter()
    while True:
        job = jobs.get()
        if job is None:
            break
        kind, mutant, suites, stop_early = job
        try:
            if kind == 'control':
                verdict = self.run(suites[0], 600)
                if verdict[0] != 'passed':      # the machine may have been busy
                    verdict = self.run(suites[0], 600)
                results.put((kind, None, suites[0].name, *verdict, self.cpu))
                continue
            self.mutate(mutant)
            hangs, found = 0, set()
            if stop_early:      # by the kills so far; each suite begins with one
                suites.sort(key=lambda s: (spent[s.name] + s.seconds + 0.5) / (kills[s.name] + 1))
            for suite in suites:
                # A deeper search would find what a search of the same kind has found already.
                if suite.is_search() and suite.kind in found:
                    verdict, self.cpu = ('implied', 0, []), 0
                else:
                    verdict = self.suite(suite, hangs)
                spent[suite.name] += verdict[1]
                kills[suite.name] += verdict[0] in KILLED
                # A kill that took long may be a test that hung, and that Check has ended.
                hangs += verdict[0] in KILLED and verdict[1] > max(10, 5 * suite.seconds)
                if verdict[0] in KILLED:
                    found.add(suite.kind)
                results.put((kind, mutant, suite.name, *verdict, self.cpu))
                if stop_early and verdict[0] in KILLED:
                    break
        except CompileError as error:
            results.put((kind, mutant, 'build', 'compile error', 0, [str(error)], 0))
        except Exception as error:  # pylint: disable=broad-except
            results.put((kind, mutant, 'build', 'could not run', 0, [repr(error)], 0))
        finally:
            if kind != 'control':
                self.restore()
                results.put(('done', mutant, '', '', 0, [], 0))
    results.put(('end', None, '', '', 0, [], 0))


# ---------------------------------------------------------------- all workers
class Results:
    """The results file, by mutant and suite."""

    def __init__(self, tree):
        self.control, self.of = {}, collections.defaultdict(dict)
        self.about = {}
        if os.path.exists(RESULTS):
            with open(RESULTS, encoding='utf-8') as file:
                for line in file:
                    if line.endswith('}\n'):            # the last line may be incomplete
                        self.take(json.loads(line), tree)
        elif tree is None:
            raise CannotTrust(f'there is no {RESULTS}')
        self.file = open(RESULTS, 'a', encoding='utf-8', buffering=1) if tree else None
        if tree:
            self.file.write('\n' if os.path.getsize(RESULTS) else '')
        if tree and not self.about.get('tree'):
            self.write({'tree': tree})

    def take(self, entry, tree):
        if 'tree' in entry:
            self.about['tree'] = entry['tree']
            if tree and entry['tree'] != tree:
                raise CannotTrust(f'{RESULTS} is of other sources: remove it, or set RESULTS')
        elif entry['hash'] == 'control':
            self.control[entry['suite']] = entry
        else:
            self.of[entry['hash']][entry['suite']] = entry
            self.about[entry['hash']] = entry

    def write(self, entry):
        self.take(entry, None)
        self.file.write(json.dumps(entry) + '\n')

    def verdict(self, name):
        """Returns killed, survives, same code, compile error or unclear."""
        verdicts = {entry['verdict'] for entry in self.of[name].values()}
        if verdicts & set(KILLED):
            return 'killed'
        for one in ('compile error', 'could not run'):
            if one in verdicts:
                return 'unclear' if one == 'could not run' else one
        return 'same code' if verdicts <= {'same code'} else 'survives'


def in_parallel(steps, jobs, show):
    """Let the workers do these jobs, and call show() with each result."""
    if not jobs:
        return
    queue, results = multiprocessing.Queue(), multiprocessing.Queue()
    for job in jobs + [None] * JOBS:
        queue.put(job)
    workers = [multiprocessing.Process(target=worker, args=(n, steps, queue, results))
               for n in range(1, JOBS + 1)]
    for each in workers:
        each.start()
    ended = 0
    try:
        while ended < JOBS:
            result = results.get()
            ended += result[0] == 'end'
            if result[0] != 'end':
                show(*result)
    finally:
        queue.cancel_join_thread()      # remaining jobs are dropped
        for each in workers:
            if ended < JOBS:
                each.terminate()
            each.join()


def read_accepted(names):
    """The accepted mutants.  An entry with the operator `orders` counts only with MUTANTS=orders."""
    accepted = {}
    with open(os.path.join(HERE, 'accepted.txt'), encoding='utf-8') as file:
        for line in file:
            words = line.split('#')[0].split()
            if words and (words[2] != 'orders' or names == ['orders']):
                accepted[words[0]] = line.strip()
    return accepted


def summary(results, hashes, names):
    """Print the score, and return the exit status."""
    accepted, status, folders = read_accepted(names), 0, collections.defaultdict(collections.Counter)
    for name in hashes:
        entry, verdict = results.about.get(name), results.verdict(name)
        if entry is None:
            print(f'nothing is known: {name}')
            status = 2
            continue
        text = f'{name} {entry["file"]} {entry["function"]} {entry["operator"]}  {entry["change"]}'
        if verdict == 'survives' and name in accepted:
            verdict = 'accepted'
        elif verdict == 'survives':
            print(f'survives: {text}')
            status = max(status, 1)
        elif verdict == 'unclear':
            print(f'could not run: {text}: ' + ' '.join(
                e['suite'] for e in results.of[name].values() if e['verdict'] == 'could not run'))
            status = 2
        elif verdict == 'killed' and name in accepted:
            print(f'accepted, but found: {text}')
        folders[entry['file'].split('/')[1]][verdict] += 1
        folders['in all'][verdict] += 1
    columns = ['killed', 'survives', 'accepted', 'same code', 'compile error', 'unclear']
    print('\n' + ' '.join(f'{name:>13}' for name in ['folder'] + columns))
    for folder, counts in folders.items():
        print(' '.join(f'{word:>13}' for word in [folder] + [counts[name] for name in columns]))
    found, left = folders['in all']['killed'], folders['in all']['survives']
    least = int(ENV.get('LEAST') or 100)
    if found + left:
        print(f'\n{100 * found / (found + left):.1f} % are found, {least} are needed')
    if status == 1 and 100 * found >= least * (found + left):
        status = 0
    if status == 0 and found:
        print(f'ok: {found} mutants are found')
    return status


def report(results):
    """Print for each suite its time, the number of mutants that it kills, and of those that only it kills."""
    killed, alone, ran, spent = (collections.Counter() for _ in range(4))
    for name, entries in results.of.items():
        kills = [s for s, e in entries.items() if e['verdict'] in KILLED]
        killed.update(kills)
        if len(kills) == 1:
            alone[kills[0]] += 1
        for suite, entry in entries.items():
            ran[suite] += entry['verdict'] in KILLED + ('passed',)
            spent[suite] += entry['cpu']
    print(f'{"suite":44} {"unchanged: s":>12} {"CPU":>6} {"ran":>6} {"kills":>6} {"alone":>6} {"CPU in all":>10}')
    none = {'seconds': 0, 'cpu': 0}
    for suite in sorted(ran, key=lambda s: -killed[s]):
        alike = results.control.get(suite, none)
        print(f'{suite:44} {alike["seconds"]:12.2f} {alike["cpu"]:6.2f} {ran[suite]:6} {killed[suite]:6} '
              f'{alone[suite]:6} {spent[suite]:10.0f}')
    print()
    return summary(results, list(results.of), [])


def run(mode, names):
    suites, canaries = read_suites()
    folders = (ENV.get('FOLDERS') or ' '.join(ALL_FOLDERS)).split()
    if not set(folders) <= set(ALL_FOLDERS):
        raise CannotTrust(f'FOLDERS: there are {" ".join(ALL_FOLDERS)}')
    found = (generate.written(TOP, 'ideas.txt') if names == ['ideas']
             else generate.mutants(TOP, [] if names else folders))
    if names == ['orders']:
        found = [m for m in found if m.operator == 'order' and m.file.startswith('src/core/')]
        folders, suites = ['core'], {'core': suites['orders']}
    elif names:
        found = [mutant for mutant in found if mutant.hash in names or names == ['ideas']]
        if names != ['ideas'] and len(found) != len(set(names)):
            raise CannotTrust('no such mutant: ' + ' '.join(set(names) - {m.hash for m in found}))
        folders = sorted({mutant.file.split('/')[1] for mutant in found})
    else:
        found = generate.sample(found, int(ENV.get('N') or 400), ENV.get('SEED') or '1')
        part, parts = map(int, (ENV.get('PART') or '1/1').split('/'))
        found = [mutant for i, mutant in enumerate(found, 1) if i % parts == part % parts]
    if not found:
        raise CannotTrust('there is no mutant to try')
    tree = fingerprint()
    results = Results(tree)
    mine = {folder: suites[folder] for folder in folders}
    every = [suite for each in mine.values() for suite in each]
    mark, needed = os.path.join(WORK, 'tree'), [tree] + [suite.name for suite in every]
    built = os.path.exists(mark) and set(needed) <= set(open(mark, encoding='utf-8').read().split('\n'))
    if not built:
        build_base(every)
        with open(mark, 'w', encoding='utf-8') as file:
            file.write('\n'.join(needed))
    steps = Steps()
    for program in sorted({suite.words[0] for suite in every if suite.kind == 'tsan'}):
        steps.add_tsan(program)

    done, bad = [0], []

    def show(kind, mutant, suite, verdict, seconds, tests, cpu):
        if kind == 'done':
            done[0] += 1
            if mutant.hash != 'canary':
                print(f'{done[0]}/{len(jobs)} {results.verdict(mutant.hash)}: {mutant}', flush=True)
        elif kind == 'control':
            if verdict != 'passed':
                bad.append(f'the unchanged sources: {suite}: {verdict} {" ".join(tests)}')
                print(bad[-1], flush=True)
            else:
                results.write({'hash': 'control', 'suite': suite, 'verdict': verdict, 'seconds': seconds,
                               'cpu': cpu})
        elif mutant.hash == 'canary':
            if verdict == 'compile error':
                raise CannotTrust(f'an emptied function does not compile: {tests[0]}')
            caught.add(mutant.file.split('/')[1] if verdict in KILLED else '')
        else:
            old = ' '.join(mutant.text[mutant.start:mutant.end].split())[:50]
            results.write({'hash': mutant.hash, 'file': mutant.file, 'line': mutant.line,
                           'function': mutant.function, 'operator': mutant.operator,
                           'change': f'{old} => {" ".join(mutant.new.split())[:50]}',
                           'suite': suite, 'verdict': verdict, 'seconds': seconds, 'cpu': cpu,
                           'tests': tests})

    jobs = [('control', None, [suite], False) for suite in {s.name: s for s in every}.values()
            if suite.name not in results.control]
    in_parallel(steps, jobs, show)
    if bad:
        raise CannotTrust('the unchanged sources do not pass')
    for each in mine.values():
        for suite in each:
            suite.seconds = results.control[suite.name]['seconds']
        each.sort(key=lambda suite: suite.seconds)
    caught = set()
    jobs = [('canary', generate.emptied(TOP, canaries[folder]), mine[folder], True)
            for folder in folders if folder in canaries]
    in_parallel(steps, jobs, show)
    missed = [folder for folder in folders if folder in canaries and folder not in caught]
    if missed:
        raise CannotTrust('an emptied function is not found in ' + ' '.join(missed))

    done[0], jobs, accepted = 0, [], read_accepted(names)
    for mutant in found:
        if mutant.hash in accepted and not names:       # it would run all suites
            show('mutant', mutant, 'accepted.txt', 'not asked', 0, [], 0)
            continue
        had = results.of[mutant.hash]
        left = [s for s in mine[mutant.file.split('/')[1]] if s.name not in had]
        if 'build' not in had and left and not (mode == 'score'
                                                and results.verdict(mutant.hash) == 'killed'):
            jobs.append(('mutant', mutant, left, mode == 'score'))
    begun = time.monotonic()
    in_parallel(steps, jobs, show)
    print(f'\n{len(found)} mutants, {len(jobs)} of them now, {time.monotonic() - begun:.0f} s, '
          f'SEED={ENV.get("SEED") or 1}')
    return summary(results, [mutant.hash for mutant in found], names)


def main(arguments):
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(99))      # so that `finally` runs
    try:
        if arguments == ['report']:
            return report(Results(None))
        if arguments and arguments[0] in ('score', 'matrix'):
            os.makedirs(os.path.dirname(WORK), exist_ok=True)
            return run(arguments[0], arguments[1:])
    except CannotTrust as why:
        print(f'run.py: {why}', file=sys.stderr)
        return 2
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
