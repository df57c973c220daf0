# SPDX-License-Identifier: MIT OR GPL-2.0
"""Tests the rules that the command lines of all programs share, without a GPU, a driver or a VM."""

import json
import os
import pathlib
import pty
import re
import socket
import subprocess

import ctl
import pytest
from building import ROOT, built
from shells import needs

PATIENCE_S = 60
PROGRAMS = ("nvdebugctl", "nvdebug-bridge", "nvdebug-exporter", "nvqos", "nvstgm", "nvtaskset")
# The programs that use lib/cli, and the source of their man pages.
TABLES = {
    "nvdebug-bridge": {"page": None},
    "nvdebug-exporter": {"page": "tools/exporter/nvdebug-exporter.8"},
    "nvqos": {"page": "tools/nvqos/nvqos.1"},
    "nvstgm": {"page": "tools/nvstgm/nvstgm.1"},
    "nvtaskset": {"page": "tools/nvtaskset/nvtaskset.1"},
}
WITH_VERBS = ("nvdebugctl", "nvstgm")
WITH_JSON = ("nvdebugctl", "nvqos", "nvstgm", "nvtaskset")


def run(program, *words, **env):
    return subprocess.run([built(f"bin/{program}"), *words], capture_output=True, check=False, stdin=subprocess.DEVNULL,
                          timeout=PATIENCE_S, env={**{k: v for k, v in os.environ.items() if k != "COLUMNS"}, **env})


def out(program, *words, **env):
    done = run(program, *words, **env)
    assert done.returncode == 0 and not done.stderr, done.stderr
    return done.stdout.decode()


def refused(program, *words, exit_status=1):
    """Returns the one sentence on stderr."""
    done = run(program, *words)
    said = done.stderr.decode()
    assert done.returncode == exit_status, said
    assert said.startswith(f"{program}: ") and said.count("\n") == 1 and said.endswith("\n"), said
    return said


def candidates(program, *words):
    return [line.split("\t")[0] for line in out(program, "__complete", *words).splitlines()]


def verbs(program):
    """Returns the words of each verb, and an empty one for a program that works without a verb."""
    if program == "nvqos":
        return [(), ("status",), ("list",), ("simulate",), ("advise",)]
    return [(verb,) for verb in candidates(program, "") if verb != "help"] if program == "nvstgm" else [()]


def options(program, verb=()):
    return candidates(program, *verb, "--")


def helps(program):
    return [("--help",), *((*verb, "--help") for verb in verbs(program) if verb)]


@pytest.mark.parametrize("program", PROGRAMS)
def test_help_and_version_have_two_names_each(program):
    assert out(program, "-h") == out(program, "--help")
    assert out(program, "-V") == out(program, "--version")
    assert re.fullmatch(program + r" \d+\.\d+\.\d+\n", out(program, "-V"))
    assert program in out(program, "-h")


@pytest.mark.parametrize("program", sorted(set(PROGRAMS) - {"nvtaskset"}))
def test_help_is_a_word_as_well(program):
    assert out(program, "help") == out(program, "--help")


SHELLS = ("bash", "zsh", "fish")
WITH_COMPLETION = sorted(set(PROGRAMS) - {"nvtaskset"})


@pytest.mark.parametrize("program", WITH_COMPLETION)
@pytest.mark.parametrize("shell", ("tcsh", "Bash"))
def test_completion_of_another_shell_is_refused_with_those_that_there_are(program, shell):
    said = refused(program, "completion", shell)
    assert all(known in said for known in SHELLS) and f"'{shell}'" in said


@pytest.mark.parametrize("program", WITH_COMPLETION)
@pytest.mark.parametrize("shell", SHELLS)
def test_completion_prints_the_script_of_a_shell(program, shell):
    script = out(program, "completion", shell)
    assert program in script and "@program@" not in script


@pytest.mark.parametrize("program", WITH_COMPLETION)
@pytest.mark.parametrize("shell", ("bash", *(pytest.param(shell, marks=pytest.mark.ci) for shell in ("zsh", "fish"))))
def test_shells_parse_the_script_of_completion(program, shell):
    needs(shell)
    subprocess.run([shell, "-n"], input=out(program, "completion", shell), text=True, check=True, timeout=PATIENCE_S)


def test_a_command_with_sudo_has_the_full_path_until_the_program_is_installed(tmp_path):
    said = refused("nvqos", "list", f"--socket={tmp_path}/none", exit_status=5)
    assert f"'sudo {built('bin/nvqos')} --socket'" in said, "sudo finds no program of a build folder by its name"


# The first words of a program that reads a file, and what the file is to be.
READERS = (("nvdebugctl", "--from", ..., "gpu", "list"), ("nvdebugctl", "recording", "show", ...),
           ("nvdebug-exporter", "--from", ...), ("nvdebug-bridge", "--vfio-user", "unused", "--control", "unused", "--capture", ...),
           ("nvqos", "--file", ...), ("nvqos", "simulate", ...), ("nvstgm", "check", ...))


@pytest.mark.parametrize("kind", ("missing", "behind a file", "of another form", "empty", "without an answer"))
@pytest.mark.parametrize("reader", READERS, ids=lambda words: " ".join(word for word in words if word != ...))
def test_a_bad_file_has_the_same_exit_status_everywhere(tmp_path, reader, kind):
    path = tmp_path / "file"
    if kind == "without an answer":
        path = pathlib.Path("/proc/self/mem")  # has no page 0, so that read() fails with EIO
    elif kind != "missing":
        path.write_text("no form that any program reads: }" if kind == "of another form" else "", encoding="utf-8")
    if kind == "behind a file":
        path = path / "file"
    listen = ()
    if reader[0] == "nvdebug-exporter":
        with socket.create_server(("127.0.0.1", 0)) as free:
            listen = ("--listen", f"127.0.0.1:{free.getsockname()[1]}")
    done = run(*(path if word == ... else word for word in reader), *listen)
    assert done.returncode == (5 if kind == "without an answer" else 1), done.stderr
    assert str(path) in done.stderr.decode()


def test_help_may_be_a_command_of_nvtaskset():
    assert "no TPCs are chosen" in refused("nvtaskset", "help")


@pytest.mark.parametrize("program", WITH_VERBS)
def test_help_of_a_verb_is_asked_for_in_two_ways(program):
    for verb in ("check",) if program == "nvdebugctl" else [verb for verb, in verbs(program)]:
        assert out(program, "help", verb) == out(program, verb, "--help") == out(program, verb, "-h")
        assert out(program, verb, "-V") == out(program, "-V")
    assert "did you mean 'check'?" in refused(program, "help", "chek")


@pytest.mark.parametrize("program", PROGRAMS)
def test_lines_of_help_have_80_columns_at_most(program):
    for words in helps(program):
        for line in out(program, *words).splitlines():
            assert len(line) <= 80, (words, line)


@pytest.mark.parametrize("program", sorted(TABLES))
def test_lines_of_help_are_as_wide_as_they_may_be(program):
    narrow, wide = (out(program, "--help", COLUMNS=columns).splitlines() for columns in ("60", "200"))
    assert max(map(len, narrow)) <= 60
    assert len(wide) <= len(narrow) and max(map(len, wide)) > (60 if len(wide) < len(narrow) else 0)


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("typo, meant", (("--versoin", "--version"), ("--hlep", "--help"), ("--vers", "--version")))
def test_a_mistyped_option_is_guessed(program, typo, meant):
    said = refused(program, typo)
    assert f"there is no option {typo} (did you mean {meant}?)" in said and "--help'" in said


@pytest.mark.parametrize("program", sorted(TABLES))
def test_each_option_is_guessed(program):
    for verb in verbs(program):
        known = options(program, verb)
        for option in known:
            typo = option[:-2] + option[-1] + option[-2]  # two letters change places
            if typo not in known and len(option) > 5:
                assert f"there is no option {typo} (did you mean {option}?)" in refused(program, *verb, typo)


@pytest.mark.parametrize("program", WITH_VERBS)
def test_a_mistyped_verb_is_guessed(program):
    assert "did you mean 'check'?" in refused(program, "chek")


def takes_value(program, verb, option):
    """Returns whether help shows a value behind the option's name."""
    shown = out(program, *verb, "--help", COLUMNS="200")
    return bool(re.search(rf"^ +(?:-\w, )?{option} [A-Z]\S*", shown, re.M))


@pytest.mark.parametrize("program", sorted(TABLES))
def test_a_missing_value_and_one_too_many(program):
    """The value is missing if nothing, an empty word or another option follows."""
    for verb in verbs(program):
        for option in options(program, verb):
            if option in ("--help", "--version"):
                assert f"{option} takes no value" in refused(program, *verb, f"{option}=1")
            elif takes_value(program, verb, option):
                for words in ((option,), (option, "--help"), (f"{option}=",)):
                    if option == "--pid" and words[-1] == "--help":
                        continue  # its value may stand behind further options
                    assert f"{option} takes a value: " in refused(program, *verb, *words)
            elif option != "--socket":
                assert f"{option} takes no value" in refused(program, *verb, f"{option}=1")


@pytest.mark.parametrize("program", sorted(TABLES))
def test_hostile_words_make_one_sentence(program):
    for word in (b"--=", b"--=x", b"---", b"-=", b"--\x1b[2J", b"-\xff", b"--\xc3\x28", b"--" + b"x" * 100_000, b"--a\nb", b"-\t"):
        done = run(program, word)
        said = done.stderr.decode()
        assert done.returncode == 1 and said.count("\n") == 1 and len(said) < 400, said
        assert "there is no option" in said and "\x1b" not in said


@pytest.mark.parametrize("program", WITH_JSON)
def test_an_error_is_json_where_json_is_asked_for(program):
    verb = {"nvdebugctl": ("gpu", "list"), "nvstgm": ("check",)}.get(program, ())
    for words in ((*verb, "-j", "--versoin"), (*verb, "--versoin", "--json"), ("--json", *verb, "--versoin")):
        done = run(program, *words)
        document = json.loads(done.stdout)
        assert done.returncode == 1 and done.stdout.count(b"\n") == 1
        assert document["tool"].startswith(f"{program} ")
        error = document["error"]
        assert set(error) == {"code", "errno", "path", "message"} and error["code"] == "usage"
        assert f"{program}: {error['message']}\n" == done.stderr.decode()


def test_errors_have_the_schema_of_errors():
    for program, words in (("nvqos", ()), ("nvtaskset", ()), ("nvstgm", ("check",))):
        document = json.loads(run(program, *words, "-j", "--versoin").stdout)
        assert document["schema"] == "nvdebug/error"
        ctl.validator("error").validate(document)


@pytest.mark.parametrize("program", sorted(TABLES))
def test_completion_offers_each_option_that_help_shows(program):
    for verb in verbs(program):
        shown = re.findall(r"^  (?:-\w, |    )(--[a-z-]+)", out(program, *verb, "--help"), re.M)
        assert options(program, verb) == shown and len(set(shown)) == len(shown)
        for option in shown:
            assert option in candidates(program, *verb, option)


@pytest.mark.parametrize("program", [name for name, one in TABLES.items() if one["page"]])
def test_the_manual_has_the_options_of_the_table(program):
    page = (built(f"bin/{program}").parent.parent / TABLES[program]["page"]).read_text(encoding="utf-8")
    listed = re.findall(r"^\.It (?:Fl (\w) , )?Fl Fl ([a-z-]+)", page, re.M)
    shown = {found for verb in verbs(program)
             for found in re.findall(r"^  (?:-(\w), |    )--([a-z-]+)", out(program, *verb, "--help"), re.M)}
    assert set(listed) == shown
    lint = subprocess.run(["mandoc", "-T", "lint", "-W", "warning"], input=page, capture_output=True, text=True, check=False)
    assert not lint.stdout


def test_a_page_that_lacks_an_option_is_not_made():
    source = (ROOT / "tools/nvqos/nvqos.1.in").read_text(encoding="utf-8")
    for page, sentence in ((source.replace("@option --epoch\n", ""), "lacks a line '@option --epoch'"),
                           (source + "@option --nothing\n", "has no such option")):
        done = subprocess.run([built("bin/nvqos"), "__manual"], input=page, capture_output=True, text=True, check=False)
        assert done.returncode == 1 and not done.stdout and sentence in done.stderr


@pytest.mark.parametrize("program, words, sentence", (
    ("nvtaskset", ("-s", "abc", "true"), "--sms takes a number of SMs, or a part as 25%, not 'abc'"),
    ("nvtaskset", ("-s", "120%", "true"), "not '120%'"),
    ("nvtaskset", ("-s", "0.3", "true"), "did you mean 30%?"),
    ("nvtaskset", ("-s", "0", "true"), "not '0'"),
    ("nvtaskset", ("-g", "3-1", "true"), "'3-1' is no list of GPCs"),
    ("nvtaskset", ("-t", "x", "--cdi", "a"), "'x' is no list of TPCs"),
    ("nvtaskset", ("-t", "0", "-i", "0,", "true"), "'0,' is no list of GPUs"),
    ("nvtaskset", ("-t", "0", "-i", "0,xyz", "true"), "'xyz' cannot be a GPU's name"),
    ("nvtaskset", ("-t", "0", "--turn", "10", "true"), "--turn takes a whole number from 1 to 9, not '10'"),
    ("nvtaskset", ("-p", "x"), "'x' is no PID"),
    ("nvqos", ("1=share:30", "--dry-run"), "did you mean 30%?"),
    ("nvqos", ("command:a=latancy",), "did you mean 'latency'?"),
    ("nvqos", ("command:a=latency", "--for", "abc"), "--for takes a time"),
    ("nvqos", ("command:a=latency", "--epoch", "100"), "with its unit, not '100'"),
    ("nvqos", ("command:a=latency", "-g", "x"), "'x' cannot be a GPU's name"),
    ("nvqos", ("command:a=latency", "-g", "0,"), "'0,' is no list of GPUs"),
    ("nvstgm", ("profile", "--tpcs", "1,x", "true"), "--tpcs takes numbers of TPCs"),
    ("nvstgm", ("profile", "--tpcs", "0", "true"), "--tpcs takes numbers of TPCs"),
    ("nvstgm", ("run", str(ROOT / "tests/data/stgm/ce1.json"), "--for", "abc"), "--for takes a time from 1ms to 1h"),
    ("nvdebug-exporter", ("--rate", "x"), "--rate takes a whole number from 1 to 100, not 'x'"),
    ("nvdebug-bridge", ("--live", "0", "--qemu-fd", "x"), "--qemu-fd takes a whole number"),
))
def test_what_makes_no_sense_is_found_before_a_gpu_is_needed(program, words, sentence):
    said = refused(program, *words)
    assert sentence in said and "driver" not in said


def test_a_command_that_is_not_there_is_found_before_a_gpu_is_needed():
    said = refused("nvtaskset", "-t", "0", "no-such-program", exit_status=127)
    assert "no-such-program: No such file or directory" in said


@pytest.mark.parametrize("program", PROGRAMS)
def test_sentences_fit_a_terminal_and_break_at_words(program):
    controller, terminal = pty.openpty()
    typed = "--a-name-that-is-long-and-of-no-option"
    with subprocess.Popen([built(f"bin/{program}"), typed], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=terminal,
                          env={**os.environ, "COLUMNS": "50"}) as process:
        process.wait(PATIENCE_S)
    os.close(terminal)
    shown = os.read(controller, 65536).decode().replace("\r\n", "\n")
    os.close(controller)
    lines = shown.splitlines()
    assert len(lines) > 1 and all(len(line) <= 50 for line in lines)
    assert " ".join(lines) + "\n" == run(program, typed).stderr.decode()
