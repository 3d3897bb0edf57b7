# SPDX-License-Identifier: MIT
"""The completions of bash and zsh for fairsem-limit and fairsem-run."""

import os
import re
import shlex

import pytest

from cases import TOP_BUILDDIR, TOP_SRCDIR, needs, run
from conftest import Terminal

COMPLETION = os.path.join(TOP_SRCDIR, "packaging/completion")
# propose FILE COMMAND WORD... - print the completions of the last word.
PROPOSE = r"""
. "$1"
shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
[[ $(complete -p "$1") =~ -F\ ([a-z_]*)\ "$1"$ ]] || exit 1
"${BASH_REMATCH[1]}" "$1" "${!#}" 2> /dev/null
echo "${COMPREPLY[*]}"
"""


def built(program):
    if not os.access(os.path.join(TOP_BUILDDIR, program), os.X_OK):
        pytest.skip("not here: %s, which was not built" % program)


@pytest.fixture
def names(limit):
    """Names of segments, and a PATH with only the programs that people call."""
    os.mkdir(limit.work / "bin")
    for program in "fairsem-limit", "fairsem-run":
        os.symlink(os.path.join(TOP_BUILDDIR, program), limit.work / "bin" / program)
    limit.env["PATH"] = "%s:%s" % (limit.work / "bin", limit.env["PATH"])
    other = os.path.join(limit.dir, "other")
    os.mkdir(other)
    for line in ("backup 3", "build 4", "--global together 5", "--dir=%s elsewhere 6" % other):
        limit.gives(0, "--keep %s -- true" % line)
    return limit


@pytest.mark.parametrize("line, proposed", (
    ("fairsem-limit ''", "backup build"),
    ("fairsem-limit ba", "backup"),
    ("fairsem-limit -n 2 bu", "build"),
    ("fairsem-limit --units = 2 -w 5m --keep ''", "backup build"),
    ("fairsem-limit -g ''", "together"),
    ("fairsem-limit --global = 660 ''", "together"),
    ("fairsem-limit --dir = @DIR/other ''", "elsewhere"),
    ("fairsem-limit backup ''", "3"),
    ("fairsem-limit --global together ''", "5"),
    ("fairsem-limit together ''", ""),
    ("fairsem-limit --status ''", "backup build"),
    ("fairsem-limit --status = j", "json"),
    ("fairsem-limit --status = json ''", "backup build"),
    ("fairsem-limit --remove --force ba", "backup"),
    ("fairsem-limit --set-limit = 7 ''", "backup build"),
    ("fairsem-limit --remove backup ''", ""),
    ("fairsem-limit --pr", "--priority="),
    ("fairsem-limit --dir = @DIR/o", "@DIR/other"),
    ("fairsem-limit -n ''", ""),
    ("fairsem-limit --cluster ''", ""),
    ("fairsem-limit --cluster = http://127.0.0.1:1 --ttl = ''", ""),
    ("fairsem-limit --cluster backup ''", ""),
    ("fairsem-limit --cluster backup 3 fairsem-limi", "fairsem-limit"),
    ("fairsem-limit backup 3 fairsem-limi", "fairsem-limit"),
    ("fairsem-limit -w 5m backup 3 -- fairsem-limi", "fairsem-limit"),
    ("fairsem-limit backup 3 -- cat @DIR/oth", "@DIR/other"),
    ("fairsem-run --st", "--stats"),
    ("fairsem-run --stats fairsem-limi", "fairsem-limit"),
    ("fairsem-run --bypass = 10ms fairsem-limi", "fairsem-limit")))
def test_bash_proposes_names_and_options(names, line, proposed):
    needs("bash")
    words = shlex.split(names.replaced(line))
    built(words[0])
    told = run("bash", "--norc", "-c", PROPOSE, "bash", "%s/%s.bash" % (COMPLETION, words[0]), *words,
               env=names.env)
    assert told.stdout == names.replaced(proposed) + "\n", told


@pytest.mark.parametrize("file", ("%s.bash", "_%s"))
@pytest.mark.parametrize("program", ("fairsem-limit", "fairsem-run"))
def test_each_option_is_known(program, file):
    built(program)
    told = run(os.path.join(TOP_BUILDDIR, program), "--help").stdout
    options = re.findall(r"^ *(?:-., )*(--[a-z][a-z-]*)", told, re.M)
    assert options != []
    with open(os.path.join(COMPLETION, file % program), encoding="utf-8") as text:
        known = text.read()
    assert [option for option in options if not re.search(r"(?<!\w)%s(?!\w)" % option, known)] == []


@pytest.fixture
def zsh(names):
    """An interactive shell, in which a key prints the completed line."""
    needs("zsh")
    env = dict(names.env, TERM="dumb", PS1="", ZDOTDIR="/nonexistent")
    terminal = Terminal("zsh", "-f", "-i", env=env)
    terminal.write(b"unset zle_bracketed_paste; unsetopt prompt_sp; PS1= RPS1=\n")
    terminal.write(b"cd %s\n" % bytes(names.work / "bin"))
    terminal.write(b"fpath=(%s $fpath); autoload -Uz compinit; compinit -u -D; "
                   b"show() { print -r -- \"<$BUFFER>\"; BUFFER=; }; zle -N show; bindkey '^Xs' show; "
                   b"print rea''dy\n" % COMPLETION.encode())
    assert terminal.read_until(rb"ready"), terminal.seen
    yield terminal
    terminal.close()


def test_zsh_proposes_names_and_options(names, zsh):
    for line, becomes in (
            ("fairsem-limit bac", "fairsem-limit backup "),
            ("fairsem-limit -n 2 --wait=5m bu", "fairsem-limit -n 2 --wait=5m build "),
            ("fairsem-limit -g t", "fairsem-limit -g together "),
            ("fairsem-limit --dir=@DIR/other e", "fairsem-limit --dir=@DIR/other elsewhere "),
            ("fairsem-limit backup ", "fairsem-limit backup 3 "),
            ("fairsem-limit --remove bac", "fairsem-limit --remove backup "),
            ("fairsem-limit --cluster bac", "fairsem-limit --cluster bac"),
            ("fairsem-limit --keep-r", "fairsem-limit --keep-running "),
            ("fairsem-limit --status=j", "fairsem-limit --status=json "),
            ("fairsem-limit backup 3 fairsem-limi", "fairsem-limit backup 3 fairsem-limit "),
            ("fairsem-limit backup 3 -- fairsem-limi", "fairsem-limit backup 3 -- fairsem-limit "),
            ("fairsem-run --chec", "fairsem-run --check ")):
        zsh.write(names.replaced(line).encode() + b"\t\x18s")
        assert zsh.read_until(rb"<([^>]*)>").group(1).decode() == names.replaced(becomes)
