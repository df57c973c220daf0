# SPDX-License-Identifier: MIT OR GPL-2.0
"""scripts/times prints tables of made-up logs, and of the record that pytest's --times writes."""

import json
import os
import subprocess
import sys

import pytest
from nvdvm import boots, paths

PLAN = """\
include CMakeFiles/rules.ninja
build lib/base/CMakeFiles/base.dir/Unity/unity_0_cxx.cxx.o: CXX_COMPILER__base_unscanned_Release ../x.cxx || order
build lib/base/CMakeFiles/base.dir/deep/one.cpp.o: CXX_COMPILER__base_unscanned_Release /src/deep/one.cpp
build tools/CMakeFiles/tool.dir/main.c.o: C_COMPILER__tool_unscanned_Release /src/main.c
build lib/base/libbase.a: CXX_STATIC_LIBRARY_LINKER__base_Release lib/base/x.o
build bin/libx.so.0.1.0 bin/other.so: CXX_SHARED_LIBRARY_LINKER__x_Release x.o | y
build bin/tool: C_EXECUTABLE_LINKER__tool_Release main.c.o
build bin/tool.1 | ${cmake_ninja_workdir}bin/tool.1: CUSTOM_COMMAND bin/tool
build build.ninja: RERUN_CMAKE | CMakeLists.txt
"""
UNITY = "lib/base/CMakeFiles/base.dir/Unity/unity_0_cxx.cxx"
# Start and end in ms, output, command.
RUNS = ((0, 90_000, f"{UNITY}.o", "a1"),
        (0, 500, "lib/base/CMakeFiles/base.dir/gone.cpp.o", "a2"),
        (10, 4_010, f"{UNITY}.o", "a3"),
        (20, 1_520, "lib/base/CMakeFiles/base.dir/deep/one.cpp.o", "a4"),
        (0, 7_000, "tools/CMakeFiles/tool.dir/main.c.o", "a5"),
        (0, 100, "lib/base/libbase.a", "a6"),
        (0, 200, "bin/libx.so.0.1.0", "a7"), (0, 200, "bin/other.so", "a7"),
        (0, 300, "bin/tool", "a8"),
        (0, 2_000, "bin/tool.1", "a9"), (0, 250, "build.ninja", "aa"))
# ctest 3.25 writes such blocks. The last block is of a program that it did not find.
TESTED = """\
Start testing: Nov 28 03:45 UTC
----------------------------------------------------------
"""
BLOCK = """\
{number}/6 Testing: {name}
{number}/6 Test: {name}
Command: {command}
Directory: /src/build
"{name}" start time: Nov 28 03:45 UTC
Output:
----------------------------------------------------------
{output}<end of output>
Test time = {seconds:6.2f} sec
----------------------------------------------------------
Test {verdict}
"{name}" end time: Nov 28 03:45 UTC
"{name}" time elapsed: 00:00:02
----------------------------------------------------------

"""


def ran(count, skipped=0):
    """Returns what a program of GoogleTest prints with --gtest_brief=1."""
    return ("Running main() from ./googletest/src/gtest_main.cc\n" + skipped * "x.cpp:9: Skipped\nit has none\n" +
            f"[==========] {count} tests from 2 test suites ran. (9 ms total)\n" +
            f"[  PASSED  ] {count - skipped} tests.\n" +
            (f"[  SKIPPED ] {skipped} test{'s' * (skipped > 1)}.\n" if skipped else ""))


UNIT = ({"name": "a_tests_0", "command": '"/b/a_tests" "--gtest_brief=1"', "output": ran(305, 2), "seconds": 2.5},
        # A test may print lines like ctest's.
        {"name": "a_tests_1", "command": '"/b/a_tests" "--gtest_brief=1"', "seconds": 3.25,
         "output": '9/9 Test: a_tests_9\nCommand: "/b/none"\nOutput:\n---\nTest time =  77.00 sec\n' +
                   ran(5, 2) + ran(301, 1)},
        {"name": "b_tests", "command": '"/b/b_tests" "--gtest_brief=1"', "seconds": 9, "verdict": "Failed.",
         "output": "x.cpp:3: Failure\n[==========] 7 tests from 1 test suite ran. (1 ms total)\n[  FAILED  ] 1 test\n"},
        {"name": "c_tests", "command": '"/b/c_tests" "--gtest_brief=1"', "seconds": 1, "verdict": "Failed.",
         "output": "died here without a line's end"},
        {"name": "symbols_2", "command": '"/usr/bin/python3" "/src/symbols.py"', "seconds": 0.5,
         "output": "well\n", "verdict": "Pass Reason:\nRequired regular expression found. Regex=[well]"},
        {"name": "absent", "command": '"" "--gtest_brief=1"', "seconds": 0, "output": ""})
RECORD = {"began": "2026-11-28 03:50", "seconds": 60.5, "workers": 2, "status": 1,
          "tests": {"qos/test_a.py::test_one[x::y]": {"setup": 20, "call": 5.5, "teardown": 0.5},
                    "qos/test_a.py::test_two": {"setup": 0, "call": 1, "teardown": 0},
                    "qos/test_b.py::test_left_out": {"setup": 0.25, "teardown": 0},
                    "test_c.py::test_three": {"setup": 0, "call": 40, "teardown": 0}},
          "skipped": ["qos/test_b.py::test_left_out"],
          "boots": [[5, "6.1.0-37-amd64", 1], [7.5, "6.1.0-37-amd64", 15], [6, "6.1.0-37-amd64", 1]]}
STEPS = "61\t5202\tunit tests, built and run\n12\t-\tDebian packages\n"


def times(*words):
    """Runs scripts/times. Returns its status, output and errors."""
    done = subprocess.run([paths.ROOT / "scripts" / "times", *words], capture_output=True, text=True, timeout=60,
                          check=False)
    return done.returncode, done.stdout, done.stderr


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.fixture
def build(tmp_path):
    """Makes a build folder with all files that scripts/times reads."""
    folder = tmp_path / "build"
    write(folder / "cmake" / "build.ninja", PLAN)
    write(folder / "cmake" / ".ninja_log", "# ninja log v5\n" + "".join(
        f"{start}\t{end}\t1795837255106069099\t{output}\t{command}\n" for start, end, output, command in RUNS) + "7\t9")
    write(folder / "cmake" / UNITY, '/* generated by CMake */\n\n#include "/src/x.cpp"\n\n#include "/src/y.cpp"\n\n')
    write(folder / "cmake" / "Testing" / "Temporary" / "LastTest.log", TESTED + "".join(
        BLOCK.format(number=number, **{"verdict": "Passed.", **entry}) for number, entry in enumerate(UNIT, 1)) +
        "End testing: Nov 28 03:46 UTC\n")
    write(folder / "times" / "pytest.json", json.dumps(RECORD))
    write(folder / "times" / "steps", STEPS)
    return folder


@pytest.fixture
def parts(build):
    status, out, err = times("--json", "--build", str(build))
    assert (status, err) == (0, "")
    return json.loads(out)


def test_each_object_counts_once_and_for_its_folder(parts):
    (cmake,) = parts["builds"]
    assert cmake["build"] == "cmake"
    compiled = cmake["compiled"]
    assert compiled["folders"] == [{"folder": "tools", "objects": 1, "seconds": 7},
                                   {"folder": "lib/base", "objects": 2, "seconds": 5.5}]
    assert (compiled["objects"], compiled["seconds"]) == (3, 12.5)
    assert compiled["longest"] == [
        {"folder": "tools", "target": "tool", "object": "main.c", "sources": 1, "seconds": 7},
        {"folder": "lib/base", "target": "base", "object": "unity_0", "sources": 2, "seconds": 4},
        {"folder": "lib/base", "target": "base", "object": "deep/one.cpp", "sources": 1, "seconds": 1.5}]


def test_linking_is_apart_and_a_command_with_two_outputs_counts_once(parts):
    assert parts["builds"][0]["linked"] == {"files": 3, "seconds": 0.6}
    assert parts["builds"][0]["made"] == {"files": 2, "seconds": 2.25}


def test_the_ten_longest_objects_are_listed(build):
    log = "".join(f"0\t{number}000\t1\tlib/CMakeFiles/x.dir/{number}.cpp.o\t{number:x}\n" for number in range(1, 31))
    write(build / "sanitize" / "build.ninja", "".join(
        f"build lib/CMakeFiles/x.dir/{number}.cpp.o: CXX_COMPILER__x /src/{number}.cpp\n" for number in range(1, 31)))
    write(build / "sanitize" / ".ninja_log", "# ninja log v5\n" + log)
    status, out, _ = times("--json", "--build", str(build))
    assert status == 0
    _, sanitize = json.loads(out)["builds"]
    assert sanitize["build"] == "sanitize" and sanitize["compiled"]["objects"] == 30
    assert [row["object"] for row in sanitize["compiled"]["longest"]] == \
        [f"{number}.cpp" for number in range(30, 20, -1)]


def test_shards_of_a_program_are_added_up(parts):
    (unit,) = parts["unit"]
    assert (unit["build"], unit["began"]) == ("cmake", "Nov 28 03:45 UTC")
    rows = {row.pop("program"): row for row in unit["programs"]}
    assert rows.pop("a_tests") == {"processes": 2, "failed": 0, "tests": 603, "seconds": 5.75}
    assert rows.pop("b_tests") == {"processes": 1, "failed": 1, "tests": 7, "seconds": 9}
    assert rows.pop("c_tests") == {"processes": 1, "failed": 1, "tests": 0, "seconds": 1}
    assert rows.pop("symbols_2") == {"processes": 1, "failed": 0, "tests": 1, "seconds": 0.5}
    assert rows.pop("absent") == {"processes": 1, "failed": 1, "tests": 0, "seconds": 0}
    assert not rows


def test_python_tests_are_added_up_by_file_and_folder(parts):
    python = parts["python"]
    assert (python["tests"], python["tests_seconds"], python["seconds"], python["workers"], python["status"]) == \
        (3, 67.25, 60.5, 2, 1)
    assert python["folders"] == [{"folder": ".", "tests": 1, "seconds": 40},
                                 {"folder": "qos", "tests": 2, "seconds": 27.25}]
    assert python["files"] == [{"file": "test_c.py", "tests": 1, "seconds": 40},
                               {"file": "qos/test_a.py", "tests": 2, "seconds": 27},
                               {"file": "qos/test_b.py", "tests": 0, "seconds": 0.25}]
    assert python["longest"][1] == {"test": "qos/test_a.py::test_one[x::y]", "seconds": 26, "fixtures_seconds": 20.5}


def test_boots_are_added_up_by_kernel_and_number_of_gpus(parts):
    assert parts["boots"] == {"boots": 3, "seconds": 18.5, "kinds": [
        {"kernel": "6.1.0-37-amd64", "gpus": 1, "boots": 2, "seconds": 11},
        {"kernel": "6.1.0-37-amd64", "gpus": 15, "boots": 1, "seconds": 7.5}]}


def test_the_text_has_every_part(build):
    status, out, err = times("--build", str(build))
    assert (status, err) == (0, "")
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert lines[0].startswith("Compilation, build/cmake (last build ")
    assert lines[0].endswith(": 3 objects in 12.5 s; 3 programs and libraries linked in 0.6 s; 2 other files in 2.2 s")
    for line in ("7.0 1 tools", "4.0 2 lib/base base unity_0",
                 "Unit tests, build/cmake (begun Nov 28 03:45 UTC): 611 tests in 16.2 s",
                 "5.8 603 2 a_tests", "9.0 7 1 b_tests (1 of 1 failed)",
                 "Python tests (begun 2026-11-28 03:50): 3 tests in 67.2 s, by 2 at once in 60.5 s; pytest ended with "
                 "status 1",
                 "27.2 2 qos", "27.0 2 qos/test_a.py", "26.0 20.5 qos/test_a.py::test_one[x::y]",
                 "Boots of VMs in the Python tests: 3 in 18.5 s", "11.0 2 5.5 1 6.1.0-37-amd64",
                 "part tests seconds", "unit tests, built and run 5202 61", "Debian packages - 12", "total 5202 73"):
        assert line in lines, line
    assert "no record" not in out


@pytest.mark.parametrize("gone, said", [
    ("cmake/.ninja_log", "compilation, which 'make unit' writes"),
    ("cmake/Testing/Temporary/LastTest.log", "unit tests, which 'make unit' writes"),
    ("times/pytest.json", "Python tests and boots, which 'make check' or pytest's --times writes"),
    ("times/steps", "steps, which 'make check' writes"),
])
def test_a_part_that_is_missing_is_named(build, gone, said):
    (build / gone).unlink()
    status, out, err = times("--build", str(build))
    assert (status, err) == (0, "")
    assert f"There is no record of {said}" in out and out.count("no record") == 1


@pytest.mark.parametrize("words", [(), ("--json",)])
def test_an_empty_build_folder_is_refused(tmp_path, words):
    assert times(*words, "--build", str(tmp_path)) == (
        1, "", f"times: nothing in {tmp_path} has been built or tested: run 'make check' and then 'make times'\n")


@pytest.mark.parametrize("file, text, said", [
    ("cmake/.ninja_log", "", "cmake/.ninja_log is no log of ninja's"),
    ("cmake/Testing/Temporary/LastTest.log", "Start testing: now\n", "LastTest.log has no test"),
    ("times/pytest.json", '{"tests": ', "pytest.json is no record of pytest's --times"),
    ("times/pytest.json", '{"tests": {}}', "pytest.json is no record of pytest's --times"),
    ("times/pytest.json", "[]", "pytest.json is no record of pytest's --times"),
    ("times/steps", "61\t5202\tunit\nminute\t-\tx\n", "times/steps:2: a step is SECONDS<TAB>TESTS<TAB>NAME"),
    ("times/steps", "61\tunit\n", "times/steps:1: a step is"),
])
def test_a_file_that_is_broken_is_named(build, file, text, said):
    write(build / file, text)
    status, out, err = times("--build", str(build))
    assert (status, out) == (1, "")
    assert err.startswith("times: ") and said in err and err.count("\n") == 1


def test_steps_of_several_files_have_one_total(tmp_path):
    write(tmp_path / "one", STEPS)
    write(tmp_path / "two", "7.6\t11\tunit tests, built and run\n")
    assert times("--steps", str(tmp_path / "one"), str(tmp_path / "two")) == (0, """\
  part                       tests  seconds
  unit tests, built and run   5202       61
  Debian packages                -       12
  unit tests, built and run     11        8
  total                       5213       81

""", "")
    status, out, _ = times("--json", "--steps", str(tmp_path / "two"))
    assert (status, json.loads(out)["steps"]) == \
        (0, [{"part": "unit tests, built and run", "tests": 11, "seconds": 7.6}])


@pytest.mark.parametrize("text, said", [
    (None, "No such file or directory; scripts/check writes it"), ("", "no step in ")])
def test_steps_that_are_not_there_are_an_error(tmp_path, text, said):
    if text is not None:
        write(tmp_path / "steps", text)
    status, out, err = times("--steps", str(tmp_path / "steps"))
    assert (status, out) == (1, "")
    assert err.startswith("times: ") and said in err and str(tmp_path / "steps") in err


# --- The record ---

SUITE = {"a/test_first.py": """\
import os, time, pytest

@pytest.fixture(scope="module")
def slow():
    time.sleep(0.2)

def test_one(slow):
    with open(os.environ["NVDEBUG_BOOTS"], "a") as file:
        file.write("1.5\\t6.1.0\\t2\\n")

def test_two(slow):
    time.sleep(0.1)
""", "test_second.py": """\
import pytest
from nvdvm import boots

def test_three():
    boots.record(2.25, "6.1.0", 1)
    boots.record(0.75, "6.1.0", 1)

@pytest.mark.skip
def test_four():
    pass

def test_five():
    pytest.skip("there is no GPU")

@pytest.mark.xfail
def test_six():
    assert False
""", "pytest.ini": "[pytest]\n"}


def suite(folder, *words):
    """Runs pytest with the plugin on a made-up suite. Returns the result of subprocess.run."""
    for name, text in SUITE.items():
        write(folder / name, text)
    path = os.pathsep.join(map(str, (paths.ROOT / "tests" / "support", paths.ROOT / "vm")))
    # The suite has variables of its own, whatever run this test is part of.
    env = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "NVDEBUG_BOOTS"))}
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-c", "pytest.ini", "-p", "slowest", "-p", "no:cacheprovider", *words],
        cwd=folder, env=env | {"PYTHONPATH": path}, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.parametrize("workers", (0, 2))
def test_pytest_writes_its_record(tmp_path, workers):
    done = suite(tmp_path, "-n", str(workers), "--times", "out/record.json")
    assert done.returncode == 0, done.stdout + done.stderr
    assert os.listdir(tmp_path / "out") == ["record.json"]
    record = json.loads((tmp_path / "out" / "record.json").read_text())
    assert (record["workers"], record["status"]) == (workers or 1, 0)
    assert set(record["tests"]) == {"a/test_first.py::test_one", "a/test_first.py::test_two",
                                    *(f"test_second.py::test_{name}" for name in ("three", "four", "five", "six"))}
    assert record["skipped"] == ["test_second.py::test_five", "test_second.py::test_four"]
    assert set(record["tests"]["a/test_first.py::test_one"]) == {"setup", "call", "teardown"}
    # A sleep is never shorter than its argument.
    assert record["tests"]["a/test_first.py::test_one"]["setup"] >= 0.2
    assert record["tests"]["a/test_first.py::test_two"]["call"] >= 0.1
    assert set(record["tests"]["test_second.py::test_four"]) == {"setup", "teardown"}
    assert record["seconds"] >= 0.3
    assert sorted(record["boots"]) == [[0.75, "6.1.0", 1], [1.5, "6.1.0", 2], [2.25, "6.1.0", 1]]
    status, out, err = times("--build", str(tmp_path / "none"), "--record", str(tmp_path / "out" / "record.json"))
    assert (status, err) == (0, "")
    assert "Boots of VMs in the Python tests: 3 in 4.5 s" in out and "a/test_first.py::test_one" in out


def test_a_second_run_replaces_the_record(tmp_path):
    # A run that was killed leaves this file.
    (tmp_path / "record.json.boots").write_text("9\t5.10.0\t1\n")
    for words in (), ("-k", "test_three"):
        done = suite(tmp_path, "-n", "0", "--times", "record.json", *words)
        assert done.returncode == 0, done.stdout + done.stderr
        record = json.loads((tmp_path / "record.json").read_text())
        assert "5.10.0" not in str(record["boots"])
    assert list(record["tests"]) == ["test_second.py::test_three"]
    assert record["boots"] == [[2.25, "6.1.0", 1], [0.75, "6.1.0", 1]]


def test_nothing_is_recorded_unless_asked_for(tmp_path):
    done = suite(tmp_path, "-n", "0", "--slowest", "1", "test_second.py")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 tests  test_second.py" in done.stdout
    assert not {*os.listdir(tmp_path)} - {"a", "test_second.py", "pytest.ini", "__pycache__"}
    done = suite(tmp_path, "-n", "0", "--collect-only", "--times", "record.json")
    assert done.returncode == 0 and not (tmp_path / "record.json").exists(), done.stdout + done.stderr


def test_a_failed_run_is_recorded_as_such(tmp_path):
    write(tmp_path / "test_wrong.py", "def test_wrong():\n    assert False\n")
    done = suite(tmp_path, "-n", "0", "--times", "record.json")
    assert done.returncode == 1, done.stdout + done.stderr
    record = json.loads((tmp_path / "record.json").read_text())
    assert record["status"] == 1 and "test_wrong.py::test_wrong" in record["tests"]


def test_a_record_that_cannot_be_written_is_refused_at_once(tmp_path):
    done = suite(tmp_path, "-n", "0", "--times", "/dev/null/record.json")
    assert done.returncode == 4
    assert "cannot write --times /dev/null/record.json" in done.stderr and "passed" not in done.stdout


def test_a_boot_that_cannot_be_recorded_does_no_harm(tmp_path, monkeypatch, capsys):
    monkeypatch.delenv("NVDEBUG_BOOTS", raising=False)
    boots.record(1, "6.1.0", 1)
    assert capsys.readouterr().err == ""
    monkeypatch.setenv("NVDEBUG_BOOTS", str(tmp_path / "gone" / "boots"))
    boots.record(1, "6.1.0", 1)
    assert "cannot record this boot in NVDEBUG_BOOTS" in capsys.readouterr().err
