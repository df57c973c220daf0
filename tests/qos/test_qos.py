# SPDX-License-Identifier: MIT OR GPL-2.0
"""nvqos without a GPU: its words, pages and forms. What it keeps is tested in tests/qos."""

import itertools
import json
import os
import re
import signal
import subprocess

import jsonschema
import pytest
import shells
from building import ROOT, built

PATIENCE_S = 60
MANUAL = (ROOT / "tools/nvqos/nvqos.1.in").read_text(encoding="utf-8")
SCHEMA = json.loads((ROOT / "tools/nvqos/schema/nvqos.epoch.json").read_text(encoding="utf-8"))
NO_DRIVER = not os.path.exists("/dev/nvidiactl")


def nvqos(*words):
    return subprocess.run([built("bin/nvqos"), *words], capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL, timeout=PATIENCE_S)


def options(*verb):
    return sorted(set(re.findall(r"^ .*?(--[a-z-]+)", nvqos(*verb, "--help").stdout, re.M)))


def test_help_names_what_the_manual_has():
    verbs = {"SIMULATION": "simulate", "ADVICE": "advise"}
    for title, text in re.findall(r"^\.Sh ([A-Z ]+)\n(.*?)(?=^\.Sh |\Z)", MANUAL, re.M | re.S):
        named = {"--" + name for name in re.findall(r"^(?:@option --|\.It .*Fl Fl )([a-z-]+)", text, re.M)}
        if title in verbs or title == "DESCRIPTION":
            found = set(options(*([verbs[title]] if title in verbs else [])))
            assert named | {"--json", "--help", "--version"} == found, title
    for goal in ("share", "speed", "cap", "latency", "best-effort"):
        assert goal in nvqos("--help").stdout and f"Cm {goal}" in MANUAL
    assert nvqos("--version").stdout.startswith("nvqos ")


def test_completion_offers_every_option():
    assert sorted(line.split("\t")[0] for line in nvqos("__complete", "--").stdout.splitlines()) == options()
    assert set(nvqos("__complete", "--scheme", "").stdout.split()) == {"rollover", "naive", "history", "elastic"}
    assert "7=latency" in nvqos("__complete", "7=").stdout.split()


@pytest.mark.parametrize("shell", shells.SHELLS)
@pytest.mark.parametrize("typed, whole", (
    ("--dry", "--dry-run "),
    ("--scheme naive -q --fi", "--scheme naive -q --file "),
    ("--scheme=na", "--scheme=naive "),
    ("conta", "container:"),
    ("7=sh", "7=share:"),
    ("command:a=la", "command:a=latency "),
    ("7=share:30%,ca", "7=share:30%,cap:"),
    ("7=share:30%,gang=o", "7=share:30%,gang=off "),
    ("7=share:30%,gang=n", "7=share:30%,gang=nodes "),
    ("7=gang=off,sh", "7=gang=off,share:"),
    ("-f go", "-f goals.toml "),
    ("--cdi sh", "--cdi share:"),
    ("--cdi share:30%,la", "--cdi share:30%,latency "),
    ("--cdi latency --cdi-folder go", "--cdi latency --cdi-folder goals.toml "),
))
def test_completion_in_a_shell(tmp_path, monkeypatch, shell, typed, whole):
    shells.needs(shell)
    (tmp_path / "goals.toml").touch()
    folder = built("bin/nvqos").parent
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    script = folder.parent / f"tools/nvqos/completion/nvqos.{shell}"
    if shell == "fish":
        found = shells.in_fish([script], f"nvqos {typed}", tmp_path)
        assert whole == typed or whole.split()[-1] in found
    elif shell == "bash":
        assert shells.in_bash([script], f"nvqos {typed}", tmp_path) == f"nvqos {whole}"
    else:
        assert shells.in_zsh([script], f"nvqos {typed}", tmp_path)[1] == f"nvqos {whole}"


@pytest.mark.parametrize("words, sentence", (
    ((), "no goal is named"),
    (("4711",), "is no WHO=GOAL"),
    (("4711=fast",), "is no goal"),
    (("nobody=share:30%",), "names no task"),
    (("4711=share:30",), "takes a part"),
    (("4711=share:30%", "--epoch", "soon"), "takes a time"),
    (("4711=share:30%", "--what"), "there is no option --what"),
    (("4711=share:30%", "4711=cap:50%"), "named twice"),
    (("4711=share:30%,gang=no",), "gang takes off, if tasks of the tenant on several GPUs do not wait for each other, nodes, if it has "
     "tasks on other nodes as well, and else on, not 'no'"),
    (("4711=timeslice:5ms,gang=nodes",), "4711: 'timeslice 5000 us' beside gang=nodes: windows by the clock set timeslices"),
    (("4711=gang=off,share:30%,gang=off",), "gang= is there twice"),
    (("others=share:30%,gang=off",), "others: tasks without a tenant are no gang"),
    (("gang=off",), "is no WHO=GOAL"),
))
def test_usage(words, sentence):
    done = nvqos(*words)
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr.startswith("nvqos: ") and sentence in done.stderr and len(done.stderr.splitlines()) == 1


@pytest.mark.skipif(not NO_DRIVER, reason="NVIDIA's driver is there")
def test_the_example_is_read_and_then_the_driver_is_missing():
    done = nvqos("--file", ROOT / "docs/examples/service.toml", "--dry-run")
    assert done.returncode == 3 and "NVIDIA's driver is not loaded" in done.stderr


@pytest.mark.skipif(not NO_DRIVER, reason="NVIDIA's driver is there")
@pytest.mark.parametrize("name, is_read", (("x.txt", False), ("qos.prom", True), ("x.prom.txt", False), ("prom", False), ("x.PROM", False),
                                           ("x.prom ", False), (".prom", True)))
def test_a_name_of_metrics_that_node_exporter_does_not_read(tmp_path, name, is_read):
    done = nvqos("4711=share:30%", "--quiet", "--metrics", tmp_path / name)
    assert done.returncode == 3 and "NVIDIA's driver is not loaded" in done.stderr
    warning = f"nvqos: --metrics {tmp_path / name}: node_exporter reads only files that end with .prom; use such a name for it\n"
    assert (warning in done.stderr) != is_read and ("node_exporter" in done.stderr) != is_read


def test_a_file_is_refused_with_its_line(tmp_path):
    path = tmp_path / "goals.toml"
    path.write_text('[[tenant]]\ncommand = "serve"\ngoal = "fast"\n', encoding="utf-8")
    done = nvqos("--file", path)
    assert done.returncode == 1 and f"{path}:3: 'fast' is no goal" in done.stderr


def test_lines_are_as_their_schema_says():
    """Those of the program over the stand-in for the driver."""
    with subprocess.Popen([built("tests/qos/nvqos_tests"), "--gtest_filter=Ends.PrintsALineForEachEpoch"],
                          stdout=subprocess.PIPE, text=True, env=os.environ | {"NVQOS_TESTS_FOR": f"{PATIENCE_S}s"}) as program:
        epochs = (json.loads(line) for line in program.stdout if line.startswith("{"))
        lines = list(itertools.islice(epochs, 3))
        program.send_signal(signal.SIGINT)
        lines += epochs
    assert len(lines) >= 3 and program.returncode == 0
    for line in lines:
        jsonschema.validate(line, SCHEMA, jsonschema.Draft202012Validator)
    tenants = lines[-1]["data"]["tenants"]
    assert [tenant["name"] for tenant in tenants] == ["557", "command:two", "others"]
    assert [tenant["aim"] for tenant in tenants] == ["share", "latency", "best-effort"]
    assert lines[-1]["data"]["begin_ns"] < lines[-1]["data"]["end_ns"]


def test_the_unit_has_what_the_program_takes():
    unit = (ROOT / "tools/nvqos/nvqos.service.in").read_text(encoding="utf-8")
    words = re.search(r"^ExecStart=\S+/nvqos (.*)$", unit, re.MULTILINE)[1].split()
    assert set(word for word in words if word.startswith("--")) <= set(options())
    # Its keepers undo what it has changed: systemd does not end them before.
    assert "KillMode" not in unit and "pidfd_getfd" in unit


def test_the_unit_may_write_to_its_folder_alone():
    """There it has claims and what is to be undone, also after its end."""
    lines = (ROOT / "tools/nvqos/nvqos.service.in").read_text(encoding="utf-8").splitlines()
    assert {"ProtectSystem=strict", "RuntimeDirectory=nvdebug", "RuntimeDirectoryMode=0700", "RuntimeDirectoryPreserve=yes"} <= set(lines)
    assert not [line for line in lines if line.startswith("ReadWritePaths")]


def test_the_unit_may_read_the_state_of_the_clock():
    """glibc's adjtimex() is the system call clock_adjtime, which ProtectClock= forbids also where nothing is set."""
    lines = (ROOT / "tools/nvqos/nvqos.service.in").read_text(encoding="utf-8").splitlines()
    allowed = [line.split() for line in lines if line.startswith("SystemCallFilter=@system-service")]
    assert len(allowed) == 1 and {"adjtimex", "clock_adjtime"} <= set(allowed[0])
    assert not [line for line in lines if line.startswith("ProtectClock")]
    (capabilities,) = [line for line in lines if line.startswith("CapabilityBoundingSet=")]
    assert "CAP_SYS_TIME" not in capabilities
