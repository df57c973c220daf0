# SPDX-License-Identifier: MIT OR GPL-2.0
"""`make wheel` makes the Python package that returns nvdebugctl's JSON as dicts."""

import json
import os
import subprocess
import sys
import zipfile

import golden_text
import pytest
from distributions import ROOT, VERSION, made, run

# These tests need the programs that are built for other distributions.
pytestmark = pytest.mark.ci

SCRIPT = """
import json, sys, nvdebugctl
answer = {}
answer["rows"] = nvdebugctl.data("runlist", "list", source=sys.argv[1], gpu=0)
answer["turns"] = len(nvdebugctl.read_recording(sys.argv[2]).turns)
answer["document"] = nvdebugctl.document("runlist", "show", 0, source=sys.argv[1])
for name, words, options in (("usage", ("frob",), {}), ("gone", ("runlist", "list"), {"source": "/nonexistent"})):
    try:
        nvdebugctl.data(*words, **options)
    except nvdebugctl.Error as error:
        answer[name] = [str(error), error.status, error.code, error.errno]
print(json.dumps(answer))
"""


@pytest.fixture(scope="module")
def wheel():
    return made("wheel", "wheel", "*.whl")


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    run("/usr/bin/python3", "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--target", folder, wheel)
    return folder


def test_the_wheel_has_all_files(wheel):
    assert wheel.name == f"nvdebugctl-{VERSION}-py3-none-manylinux_2_17_{os.uname().machine}.whl"
    with zipfile.ZipFile(wheel) as file:
        names, text = file.namelist(), file.read(f"nvdebugctl-{VERSION}.dist-info/METADATA").decode()
    assert {"nvdebugctl/__init__.py", "nvdebugctl/recordings.py", "nvdebugctl/traces.py", "nvdebugctl/captures.py",
            "nvdebugctl/marks.py", "nvdebugctl/py.typed", "nvdebugctl/bin/nvdebugctl",
            "nvdebugctl/schema/runlist.show.json"} <= set(names)
    assert f"Version: {VERSION}\n" in text and not [name for name in names if ".map" in name or "setup" in name]


def test_answers_are_dicts(installed, tmp_path):
    (tmp_path / "gpu0").mkdir()
    for part in ("topology", "fig6"):
        for section in golden_text.load(f"titan-v/{part}").split("==> ")[1:]:
            name, _, rest = section.partition("\n")
            (tmp_path / "gpu0" / name).write_text(rest, encoding="ascii")
    answer = json.loads(run(sys.executable, "-c", SCRIPT, tmp_path, ROOT / "docs/examples/two-gpus.ndjson",
                            env={**os.environ, "PYTHONPATH": str(installed)}))
    assert [row["runlist"] for row in answer["rows"]][0] == 0 and answer["rows"][0]["tsgs"] == 3
    assert answer["turns"] == 48
    assert answer["document"]["schema"] == "nvdebug/runlist.show" and answer["document"]["gpu"]["chip"] == "GV100"
    message, *rest = answer["usage"]
    assert "frob" in message and rest == [1, "usage", None]
    message, *rest = answer["gone"]
    assert "/nonexistent" in message and rest == [1, "not_found", "ENOENT"]


def test_the_package_is_a_program_too(installed):
    env = {**os.environ, "PYTHONPATH": str(installed)}
    assert run(sys.executable, "-m", "nvdebugctl", "--version", env=env) == f"nvdebugctl {VERSION}\n"
    assert run(installed / "bin/nvdebugctl", "--version", env=env) == f"nvdebugctl {VERSION}\n"


def test_unexpected_output_of_the_program_is_refused(installed, tmp_path):
    """Another major version of the JSON is refused, and so is output that is no JSON."""
    site = tmp_path / "site"
    subprocess.run(["cp", "-r", installed, site], check=True)
    program = site / "nvdebugctl/bin/nvdebugctl"
    for text, sentence in (('{"schema_version": "2.0", "data": []}', "has version 2.0"), ("", "ended with status 0")):
        program.write_text(f"#!/bin/sh\nprintf '%s' '{text}'\n")
        done = subprocess.run([sys.executable, "-c", "import nvdebugctl; nvdebugctl.data('gpu', 'list')"], check=False,
                              capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(site)})
        assert done.returncode == 1 and sentence in done.stderr


def test_the_same_bytes_again(wheel, tmp_path):
    for each in ("one two", "three"):
        run(ROOT / "packaging/make-wheel", ROOT / "build/release", tmp_path / each, env={**os.environ, "SOURCE_DATE_EPOCH": "1700000000"})
    (first,), (second,) = ((tmp_path / each).glob("*.whl") for each in ("one two", "three"))
    assert first.read_bytes() == second.read_bytes()
