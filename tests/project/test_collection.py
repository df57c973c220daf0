# SPDX-License-Identifier: MIT OR GPL-2.0
"""The tests themselves: their order, what they import, and that what a helper answers is looked at."""

import ast
import os
import subprocess
import sys

from nvdvm import paths


def test_order_does_not_depend_on_the_hash_seed():
    """xdist's workers refuse to start otherwise."""
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
    """{file name: its syntax tree}, of the tests and of what they import."""
    tests = paths.ROOT / "tests"
    return {path.name: ast.parse(path.read_text(encoding="utf-8"))
            for path in (tests / "conftest.py", *tests.glob("support/*.py"), *tests.rglob("test_*.py"))}


def imported(node):
    """The modules that a statement imports."""
    if isinstance(node, ast.Import):
        return [name.name for name in node.names]
    return [node.module] if isinstance(node, ast.ImportFrom) else []


def test_nobody_imports_tests():
    """What several need is in a module without tests, or a fixture."""
    found = {(name, module) for name, tree in trees().items() for node in ast.walk(tree)
             for module in imported(node)}
    assert ("test_collection.py", "nvdvm") in found
    assert [(name, module) for name, module in sorted(found) if module.startswith("test_")] == []


def answers(function):
    """Whether it returns that something is so: a comparison, all() and the like."""
    values = [node.value for node in ast.walk(function) if isinstance(node, ast.Return)]
    return any(isinstance(value, (ast.Compare, ast.BoolOp)) or
               isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.Not) or
               isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and
               value.func.id in ("all", "any") for value in values)


def test_no_answer_is_thrown_away():
    """A call that stands alone asserts nothing, however much its name sounds like it."""
    answering = {node.name for tree in trees().values() for node in ast.walk(tree)
                 if isinstance(node, ast.FunctionDef) and answers(node)}
    assert {"even", "only"} <= answering
    assert [f"{name}:{node.lineno}: {ast.unparse(node)}" for name, tree in trees().items()
            for node in ast.walk(tree)
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and
            isinstance(node.value.func, ast.Name) and node.value.func.id in answering] == []
