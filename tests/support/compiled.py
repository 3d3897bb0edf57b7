# SPDX-License-Identifier: MIT
"""compiled.py - helpers for cases that compile programs; see cases.py."""

import functools
import os
import shlex
import shutil

import pytest

from cases import NOT_HERE, TOP_BUILDDIR, TOP_SRCDIR, WORK, run

CC, CXX, CFLAGS = (shlex.split(os.environ.get(name) or default)
                   for name, default in (("CC", "cc"), ("CXX", "c++"), ("CFLAGS", "")))
INCLUDE, LIBS = "-I" + TOP_SRCDIR + "/include", TOP_BUILDDIR + "/.libs"
# CFLAGS may have options of gcc that clang warns about; gcc ignores an unknown name after -Wno-.
STRICT = [*CFLAGS, "-Wall", "-Wextra", "-Wpedantic", "-Werror",
          "-Wno-ignored-optimization-argument", INCLUDE]
# The static library, if there is one.
LIBRARY = LIBS + "/libfairsem." + ("a" if os.path.exists(LIBS + "/libfairsem.a") else "so")


def compilers(*commands):
    """The commands as parameters of a case, each once.  A case with a missing compiler is skipped."""
    return [command if shutil.which(command.split()[0]) else
            pytest.param(command, marks=pytest.mark.skip("there is no " + command))
            for command in sorted(set(commands))]


C_COMPILERS = compilers(shlex.join(CC), "gcc", "clang")
CXX_COMPILERS = compilers(shlex.join(CXX), "g++", "clang++")


def file(name, text, mode=0o644):
    """Write a file in WORK.  Returns its path."""
    path = WORK + "/" + name
    with open(path, "w", encoding="utf-8") as to:
        to.write(text)
    os.chmod(path, mode)
    return path


@functools.lru_cache(None)
def needs_standard(compiler, language, standard, text=""):
    """Skip if the compiler does not know the standard, or its library lacks something that the text uses."""
    if run(*compiler.split(), "-std=" + standard, "-x", language, "-fsyntax-only", "-", stdin=None,
           input=text).returncode != 0:
        pytest.skip(NOT_HERE + "%s does not know -std=%s" % (compiler, standard))


def compiles(compiler, *options):
    done = run(*compiler.split(), *options)
    assert done.returncode == 0, done.stderr


def works(compiler, *options):
    """Check that the source compiles, links with the library, and exits with 0."""
    program = WORK + "/program"
    compiles(compiler, *STRICT, *options, LIBRARY, "-pthread", "-o", program)
    done = run(program, env={**os.environ, "LD_LIBRARY_PATH": LIBS})
    assert done.returncode == 0, done.stdout + done.stderr
