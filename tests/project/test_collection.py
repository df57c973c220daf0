# SPDX-License-Identifier: MIT OR GPL-2.0
"""The tests themselves: their order, their imports, the use of helpers' answers, and the reach of other users."""

import ast
import os
import pathlib
import re
import subprocess
import sys

import pytest
from nvdvm import paths
from throwaway_root import needs_root
from users import as_user, hidden, open_folder


@pytest.mark.ci
def test_order_does_not_depend_on_the_hash_seed():
    """The workers of xdist refuse to start if it does."""
    def collected(seed):
        return subprocess.run(
            [sys.executable, "-m", "pytest", "-c", "tests/pytest.ini", "tests", "-q",
             "--collect-only", "-p", "no:cacheprovider"],
            cwd=paths.ROOT, env=os.environ | {"PYTHONHASHSEED": str(seed)},
            stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()[:-1]

    first = collected(0)
    assert len(first) > 1000
    assert all(collected(seed) == first for seed in range(1, 5))


def trees():
    """Returns {file name: its syntax tree} of the tests and their helpers."""
    tests = paths.ROOT / "tests"
    return {path.name: ast.parse(path.read_text(encoding="utf-8"))
            for path in (tests / "conftest.py", *tests.glob("support/*.py"), *tests.rglob("test_*.py"))}


def imported(node):
    """Returns the modules that a statement imports."""
    if isinstance(node, ast.Import):
        return [name.name for name in node.names]
    return [node.module] if isinstance(node, ast.ImportFrom) else []


def test_nobody_imports_tests():
    """Code that several tests need is in a module without tests, or in a fixture."""
    found = {(name, module) for name, tree in trees().items() for node in ast.walk(tree)
             for module in imported(node)}
    assert ("test_collection.py", "nvdvm") in found
    assert [(name, module) for name, module in sorted(found) if module.startswith("test_")] == []


def answers(function):
    """Returns true if the function returns an answer to a question: a comparison, all() and the like."""
    values = [node.value for node in ast.walk(function) if isinstance(node, ast.Return)]
    return any(isinstance(value, (ast.Compare, ast.BoolOp)) or
               isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.Not) or
               isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and
               value.func.id in ("all", "any") for value in values)


def test_no_answer_is_thrown_away():
    """A call that stands alone asserts nothing, whatever its name suggests."""
    answering = {node.name for tree in trees().values() for node in ast.walk(tree)
                 if isinstance(node, ast.FunctionDef) and answers(node)}
    assert {"even", "only"} <= answering
    assert [f"{name}:{node.lineno}: {ast.unparse(node)}" for name, tree in trees().items()
            for node in ast.walk(tree)
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and
            isinstance(node.value.func, ast.Name) and node.value.func.id in answering] == []


# Programs and functions that become another user on this machine. In a guest (`su user`) the clone is not visible.
BECOMES_USER = re.compile(r"--reuid|--userspec|--map-user|\brunuser\b|\bset(res|re|e)?uid\b")


def becomes_user(path):
    text = path.read_text(encoding="utf-8")
    return BECOMES_USER.search(text) or [
        node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call) and ast.unparse(node.func).startswith("subprocess.")
        and any(each.arg in ("user", "group", "extra_groups") for each in node.keywords)]


def test_other_users_start_in_one_place():
    """Commands of other users start with the words of tests/support/users.py, which hide the clone."""
    tests = paths.ROOT / "tests"
    found = {path.name for path in tests.rglob("*.py")
             if path.relative_to(tests).parts[0] != "hardware" and becomes_user(path)}
    assert found == {"users.py", pathlib.Path(__file__).name}


def test_other_users_do_not_reach_the_clone():
    """The clone is hidden wherever it is and whatever mode it has. So a test that needs the clone fails on every
    machine."""
    needs_root()
    with open_folder() as folder:
        def may_read(place):
            done = subprocess.run([*as_user(folder), "test", "-r", place], stderr=subprocess.PIPE, text=True, check=False)
            assert done.stderr == ""
            return done.returncode == 0
        (folder / "theirs").touch()
        assert may_read(folder / "theirs")
        assert not any(may_read(place) for place in (paths.ROOT / "VERSION", *hidden()))
