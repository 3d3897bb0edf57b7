# SPDX-License-Identifier: MIT
"""complete.py - zsh completes the command line of fairsem-limit, on a terminal.

    complete.py DIRECTORY OTHER     the directory of the functions, and one with other names
"""
import os
import pty
import re
import signal
import sys

from hang import limit_time

LINES = (
    ("fairsem-limit bac", "fairsem-limit backup "),
    ("fairsem-limit -n 2 --wait=5m bu", "fairsem-limit -n 2 --wait=5m build "),
    ("fairsem-limit -g t", "fairsem-limit -g together "),
    ("fairsem-limit --dir=%s e", "fairsem-limit --dir=%s elsewhere "),
    ("fairsem-limit backup ", "fairsem-limit backup 3 "),
    ("fairsem-limit --remove bac", "fairsem-limit --remove backup "),
    ("fairsem-limit --cluster bac", "fairsem-limit --cluster bac"),
    ("fairsem-limit --keep-r", "fairsem-limit --keep-running "),
    ("fairsem-limit --status=j", "fairsem-limit --status=json "),
    ("fairsem-limit backup 3 fairsem-limi", "fairsem-limit backup 3 fairsem-limit "),
    ("fairsem-limit backup 3 -- fairsem-limi", "fairsem-limit backup 3 -- fairsem-limit "),
    ("fairsem-run --chec", "fairsem-run --check "),
)


def read_until(terminal, pattern):
    """What it prints, up to the pattern."""
    seen = b""
    while not re.search(pattern, seen):
        seen += os.read(terminal, 1000)
    return seen


def main(functions, other):
    """Each line, and then a word that shows what became of it."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ.update(TERM="dumb", PS1="", ZDOTDIR="/nonexistent")
        os.execlp("zsh", "zsh", "-f", "-i")
    os.write(terminal, b"unset zle_bracketed_paste; unsetopt prompt_sp; PS1= RPS1=\n")
    os.write(terminal, b"fpath=(%s $fpath); autoload -Uz compinit; compinit -u -D; "
             b"show() { print -r -- \"<$BUFFER>\"; BUFFER=; }; zle -N show; bindkey '^Xs' show; "
             b"print rea''dy\n" % functions.encode())
    read_until(terminal, rb"ready")
    for line, expected in LINES:
        line, expected = (text.replace("%s", other) for text in (line, expected))
        os.write(terminal, line.encode() + b"\t\x18s")
        seen = read_until(terminal, rb"<[^>]*>")
        got = re.search(rb"<([^>]*)>", seen).group(1).decode()
        if got != expected:
            sys.exit("%r becomes %r, not %r" % (line, got, expected))
    os.write(terminal, b"exit\n")
    os.kill(pid, signal.SIGHUP)


limit_time()
main(*sys.argv[1:3])
