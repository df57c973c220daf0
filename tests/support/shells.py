# SPDX-License-Identifier: MIT OR GPL-2.0
"""Runs real shells with completion scripts. They run on terminals if they can."""

import os
import shlex
import shutil
import subprocess
import time

import pytest
from typist import PATIENCE_S, Typist

# Ctrl-X writes the present line to a file.
BASH = """
    PS1='ready> '; bind 'set enable-bracketed-paste off'; bind 'set bell-style none'
    bind -r '\\C-x'; bind -x '"\\C-x": printf "%s\\n" "$READLINE_LINE" >{typed}'
    {source}
"""
# The candidates are also written to a file.
ZSH = """
    PS1='ready> '; fpath=({autoload} $fpath); autoload -Uz compinit; compinit -D -u; {source}
    compadd() {{
        local -a matches; builtin compadd -O matches "$@"
        print -rl -- $matches >>{found}; builtin compadd "$@"
    }}
    typed() {{ print -r -- "$BUFFER" >{typed} }}; zle -N typed; bindkey '^X' typed
"""

# make check runs only bash.
SHELLS = ("bash", *(pytest.param(name, marks=pytest.mark.ci) for name in ("zsh", "fish")))


def on_terminal(command, rc, line, folder, autoload=()):
    """Presses Tab at the end of the line. Returns the candidates, as far as the shell writes them, and the line
    afterwards."""
    files = folder / ".shell"
    files.mkdir()
    for script in autoload:
        shutil.copy(script, files / f"_{script.stem}")
    (files / "rc").write_text(rc.format(autoload=files, found=files / "found", typed=files / "typed"))
    shell = Typist(command, 50, 400)
    try:
        shell.type(shlex.join(["cd", str(folder)]).encode() + b"; source .shell/rc\r")
        shell.wait_for(b"ready> ")
        shell.type(f"{line}\t\x18".encode())
        deadline = time.monotonic() + PATIENCE_S
        while not (files / "typed").exists() or not (files / "typed").read_text():
            assert time.monotonic() < deadline
            shell.watch(0.05)
        found = (files / "found").read_text() if (files / "found").exists() else ""
        # zsh tries several ways to match, so it may find a candidate twice.
        return sorted(set(found.split())), (files / "typed").read_text()[:-1]
    finally:
        shell.close()
        shutil.rmtree(files)


def sources(scripts):
    return "; ".join(f"source {shlex.quote(str(script))}" for script in scripts)


def in_bash(scripts, line, folder):
    return on_terminal(["bash", "--norc", "-i"], BASH.replace("{source}", sources(scripts)), line, folder)[1]


def in_zsh(scripts, line, folder, autoload=False):
    rc = ZSH.replace("{source}", "" if autoload else sources(scripts))
    return on_terminal(["zsh", "-f", "-i"], rc, line, folder, scripts if autoload else ())


def in_fish(scripts, line, folder):
    """Returns the candidates of fish with the cursor at the end of the line."""
    done = subprocess.run(
        ["fish", "--no-config", "-c", f"{sources(scripts)}; complete -C $argv", line],
        cwd=folder, capture_output=True, text=True, check=True, env={**os.environ, "HOME": str(folder)})
    assert done.stderr == ""
    return [each.split("\t")[0] for each in done.stdout.splitlines()]


def needs(program, purpose="shells"):
    """Skips the test on a developer's machine without the program. In CI the test fails instead.
    @param purpose of scripts/install-deps, which installs it"""
    if shutil.which(program):
        return
    reason = f"{program} is not installed (scripts/install-deps {purpose})"
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)
