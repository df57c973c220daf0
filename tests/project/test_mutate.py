# SPDX-License-Identifier: MIT OR GPL-2.0
"""scripts/mutate finds changes in C and C++, and compiles all of them at once."""

import dataclasses
import importlib.machinery
import importlib.util
import re
import shutil
import subprocess
import sys

import pytest
from nvdvm import paths

sys.path.insert(0, str(paths.ROOT / "scripts"))
from mutation import c, cplusplus  # noqa: E402
from mutation.changes import Explanations, Mutant, draw  # noqa: E402
from mutation.tree import Tree  # noqa: E402
from mutation.trials import Test as Trial  # noqa: E402
from mutation.trials import Trials, batches  # noqa: E402

loader = importlib.machinery.SourceFileLoader("mutate", str(paths.ROOT / "scripts/mutate"))
mutate = importlib.util.module_from_spec(importlib.util.spec_from_loader("mutate", loader))
sys.modules["mutate"] = mutate
loader.exec_module(mutate)

FEW = """#pragma once
#include <optional>
#include <vector>
// <algorithm> takes seconds to compile.
namespace few {
template <typename T> T max(T a, T b) { return a < b ? b : a; }
template <typename T> T min(T a, T b) { return b < a ? b : a; }
template <typename L, typename F> bool any_of(const L &all, F f) {
    for (auto one : all) if (f(one)) return true;
    return false;
}
template <typename L, typename F> bool all_of(const L &all, F f) {
    for (auto one : all) if (!f(one)) return false;
    return true;
}
} // namespace few
"""

CPLUSPLUS = r"""#include "few.hpp"
#include <utility>
#include <vector>

#define TWICE(x) ((x) < 0 ? 0 : 2 * (x))
int seen; // a < b && true
namespace shop {
namespace {
constexpr bool limit = 1 < 2;
constexpr int twice(int one) { return one < 0 ? 0 : 2 * one; }
enum class Kind { small = 1 + 1, large };
struct Basket {
    Basket(int first, std::vector<int> rest) : first_{first}, rest_(std::move(rest)) { seen++; }
    bool has(int one) const { return first_ == one; }
    int first_;
    std::vector<int> rest_;
    bool open = true;
};
} // namespace

template <typename T>
T larger(T a, T b) {
    return few::max<T>(a, b);
}

std::optional<int> find(const std::vector<std::vector<int>> &all, int wanted) {
    constexpr int most = 100'000 - 1;
    const char * const name = "true && (";
    if (wanted > most || name == nullptr)
        return std::nullopt;
    for (std::size_t n = 0; n < all.size(); n++) {
        const auto is_wanted = [&](int one) {
            const bool same = one == wanted; /* != */
            return same;
        };
        if (few::any_of(all[n], is_wanted))
            return static_cast<int>(n);
    }
    return {};
}

int last(const std::vector<int> &all) {
    if (all.empty())
        return -1;
    else
        seen = 5;
    Basket basket(all.front(), all);
    int number = all[all.size() - 1];
    if (auto found = find({{1}, all}, 7); found)
        number = *found;
    switch (number) {
    case 3:
        number *= 2;
        break;
    default:
        seen += 1;
    }
    do
        number++;
    while (number < 3);
    return larger(number, twice(-1));
}
} // namespace shop
"""

# The lines, shortened, and their changes.
EXPECTED = """
13 seen++ -> -
14 == -> !=
23 max<T> -> min<T>
29 > most -> >= most
29 || -> &&
29 == nullptr -> != nullptr
30 return std::nullopt -> -
31 n < all -> n <= all
33 one == -> one !=
36 any_of -> all_of
37 return static_cast<int>(n) -> -
43 if (all.empty()) -> if (!(all.empty()))
44 return -1 -> -
46 seen = 5 -> -
48 - 1 -> - 0
49 found) -> !(found))
50 number = *found -> -
53 number *= 2 -> -
54 break -> -
56 seen += 1 -> -
59 number++ -> -
60 < 3 -> <= 3
"""

MAIN = r"""
#include "few.hpp"
#include <cstdio>
#include <cstdlib>
extern "C" { int mutant; unsigned char places[2000]; unsigned char *mutant_places = places; }
extern int seen;
namespace shop {
int last(const std::vector<int> &all);
std::optional<int> find(const std::vector<std::vector<int>> &all, int);
}
int main(int, char **arguments) {
    mutant = std::atoi(arguments[1]);
    const int last = shop::last({1, 3});
    const auto place = shop::find({{2}, {3, 4}}, 4);
    std::printf("%d %d %d %d %d:", last, place.value_or(-2), seen, shop::find({{}, {8}}, 9).value_or(-2),
                shop::find({{100000}}, 100000).value_or(-2));
    std::printf(" %d %d", shop::last({}), shop::last({7, 1}));
    for (int n = 0; n < 2000; n++)
        if (places[n])
            std::printf(" place-%d", n);
}
"""


@pytest.fixture
def shop(tmp_path):
    (tmp_path / "shop.cpp").write_text(CPLUSPLUS)
    return cplusplus.Source(tmp_path, "shop.cpp")


def words(text):
    return re.sub(r"[\s;{]+", " ", text).strip()


def test_changes_of_cplusplus_are_found(shop):
    expected = [line.split(" ", 1) for line in EXPECTED.strip().splitlines()]
    for mutant, (line, change) in zip(shop.mutants, expected):
        before, after = change.split(" -> ")
        assert mutant.line + 1 == int(line), f"{mutant} in place of {change}"
        assert before in mutant.before and (after in mutant.after or after == "-" and not mutant.after), str(mutant)
    assert len(shop.mutants) == len(expected)
    assert shop.left_out == 1, "of constants"


def test_changes_of_cplusplus_are_compiled_at_once(shop, tmp_path):
    """A program with all changes behaves like a program with the one that is chosen."""
    numbers = {mutant: number for number, mutant in enumerate(shop.mutants, 1)}
    places = {}
    together = shop.with_all(numbers, places)
    assert places == numbers

    def output(folder, text, number):
        folder.mkdir(exist_ok=True)
        program = folder / "program"
        if not program.exists():
            (folder / "shop.cpp").write_text(text)
            (folder / "main.cpp").write_text(MAIN)
            (folder / "few.hpp").write_text(FEW)
            subprocess.run(["g++", "-std=c++20", "-O0", "-w", "-D_GLIBCXX_ASSERTIONS", "-fsanitize=return",
                            "-fsanitize-undefined-trap-on-error", "main.cpp", "shop.cpp", "-o", program],
                           cwd=folder, check=True)
        # A loop that does not end is ended after a second.
        result = subprocess.run(["sh", "-c", 'ulimit -t 1; exec "$@"', "sh", program, str(number)],
                                capture_output=True, text=True)
        values, _, reached = result.stdout.partition(" place-")
        return result.returncode, values, set(map(int, re.findall(r"\d+", reached)))

    usual = output(tmp_path / "plain", CPLUSPLUS, 0)
    unchanged = output(tmp_path / "all", together, 0)
    assert usual[0] == 0 and unchanged[:2] == usual[:2]
    assert unchanged[2] == {number for mutant, number in numbers.items() if "has(" not in mutant.before}
    different = 0
    # Each program takes a second to compile alone, so that one change of each kind has to do.
    for mutant in {mutant.text[:2]: mutant for mutant in shop.mutants}.values():
        number = numbers[mutant]
        text = shop.text[:mutant.start] + (mutant.text or ";") + shop.text[mutant.end:]
        alone = output(tmp_path / f"alone-{number}", text, 0)
        assert output(tmp_path / "all", together, number)[:2] == alone[:2], str(mutant)
        different += alone[:2] != usual[:2]
    assert different > 3


def test_a_line_that_only_looks_like_code_is_left_alone(shop):
    lines = [mutant.before for mutant in shop.mutants]
    for text in ("#define", "int seen;", "limit =", "twice(int", "enum", "most =", "* const name ="):
        assert text in CPLUSPLUS and not [line for line in lines if text in line]


def test_compiler_names_the_change_that_is_wrong(shop, tmp_path):
    tree = Tree.__new__(Tree)
    tree.sources = {"shop.cpp": shop}
    tree.numbers = {mutant: number for number, mutant in enumerate(shop.mutants, 1)}
    first, second = shop.mutants[1], shop.mutants[2]
    assert tree.wrong("In function:\nmutant-2:1:20: error: no match for 'operator!='\n") == {first}
    assert tree.wrong("mutant-2:1:20:   required from here\nstring:8:1: error: no\n") == {first}
    message = f"../shop.cpp:{second.line + 1}:7: error: inconsistent types deduced\n"
    assert tree.wrong(message) == {second}
    assert tree.wrong("ld: error: no library\n") == set()


C = """
static int add(int a, int b)
{
    int ret;

    if (a < 0)
        return -1;
    ret = check(b);
    if (ret)
        goto out;
    forget(a);
out:
    return ret;
}
"""


def test_changes_of_c_are_found(tmp_path):
    (tmp_path / "add.c").write_text(C.replace("    ", "\t"))
    source = c.Source(tmp_path, "add.c")
    assert [(mutant.line + 1, mutant.after.strip()) for mutant in source.mutants] == [
        (6, "if (a <= 0)"), (7, ";"), (8, "ret = 0;"), (11, ";")]
    places = {}
    text = source.with_all({mutant: 10 + n for n, mutant in enumerate(source.mutants)}, places)
    assert "case 13: return add__13(a, b);" in text and len(places) == 4
    assert all(f"mutant_reached({place})" in text for place in places.values())


def mutants(*lines):
    return [Mutant("a.c", line, f"\t{text}", "") for line, text in enumerate(lines)]


def test_a_sample_stays_when_other_lines_come_and_go():
    before = mutants(*(f"call_{n}();" for n in range(100)))
    drawn = draw(before, 20, 1)
    assert len(drawn) == 20 and drawn == sorted(drawn, key=lambda mutant: mutant.line)
    assert drawn != draw(before, 20, 2)
    after = mutants("new();", *(f"call_{n}();" for n in range(100)), "more();")
    common = {mutant.key() for mutant in drawn} & {mutant.key() for mutant in draw(after, 20, 1)}
    assert len(common) >= 18


def test_lines_that_are_the_same_are_drawn_one_by_one():
    assert len(draw(mutants(*["call();"] * 50), 10, 1)) == 10
    assert draw(mutants(*["call();"] * 50), 10, 1) != draw(mutants(*["call();"] * 50), 10, 2)


def test_messages_and_comments_do_not_change_a_sample(tmp_path):
    names = []
    for text in ('fail("no file"); // of a user', 'fail("no such file: give another"); /* or root */'):
        (tmp_path / "a.cpp").write_text(f"void run() {{\n    {text}\n}}\n")
        mutant, = cplusplus.Source(tmp_path, "a.cpp").mutants
        names.append(mutant.identity())
    assert names[0] == names[1]


def test_an_explanation_is_needed_or_stale():
    explanations = Explanations("# WHY\na.c | call(* | - | nobody sees it\nb*.c | x < y | x <= y | the same\n")
    assert explanations.explain(mutants("call(1);")[0])
    assert not explanations.explain(mutants("other();")[0])
    assert explanations.stale(["a.c", "b1.c", "b2.c"], ["a.c", "b1.c"]) == [], "b2.c may need it"
    assert explanations.stale(["a.c", "b1.c"], ["a.c", "b1.c"]) == ["b*.c | x < y | x <= y | the same"]
    assert explanations.stale(["c.cpp"], ["c.cpp"]) == [], "it is of another area"


def test_fast_tests_run_first():
    tests = sorted(Trial(seconds, program, f"T.{n}", 0, frozenset())
                   for n, (seconds, program) in enumerate([(9, "a"), (0.1, "b"), (0.1, "a"), (0.5, "a"), (0.01, "a")]))
    names = [(program, [test.seconds for test in some]) for program, some in batches(tests, ("a", "b"))]
    assert names == [("a", [0.01, 0.1]), ("b", [0.1]), ("a", [0.5]), ("a", [9])]


TOY = {
    "CMakeLists.txt": """
cmake_minimum_required(VERSION 3.25)
project(nvdebug LANGUAGES CXX)
set(CMAKE_CXX_STANDARD 20)
find_package(GTest REQUIRED)
add_executable(toy_tests toy.cpp toy_test.cpp)
target_link_libraries(toy_tests GTest::gtest_main)
""",
    "toy.cpp": """
#include <unistd.h>
int in_child(int pipe) {
    int value = 3;
    value += 1;
    ::write(pipe, &value, sizeof(value));
    return value;
}
int sum(int last) {
    int sum = 0;
    for (int n = 0; n < last;) {
        sum += n;
        n++;
    }
    return sum;
}
bool unchecked(bool on) {
    return on || sum(1) == 0;
}
int never_called(int n) {
    return n - 1;
}
""",
    "toy_test.cpp": """
#include <gtest/gtest.h>
#include <unistd.h>
int in_child(int pipe);
int sum(int last);
bool unchecked(bool on);
TEST(Child, Writes) {
    int ends[2], value = 0;
    ASSERT_EQ(::pipe(ends), 0);
    if (::fork() == 0) {
        in_child(ends[1]);
        ::_exit(0);
    }
    ::close(ends[1]);
    ::read(ends[0], &value, sizeof(value));
    EXPECT_EQ(value, 4);
}
TEST(Sum, IsOfAllBelow) { EXPECT_EQ(sum(4), 6); }
TEST(Unchecked, IsOn) { EXPECT_TRUE(unchecked(true)); }
""",
}


@pytest.fixture
def toy(tmp_path):
    for name, text in TOY.items():
        (tmp_path / name).write_text(text)
    shutil.copy(paths.ROOT / mutate.LISTENER, tmp_path / "mutants.cpp")
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    area = dataclasses.replace(mutate.AREAS["programs"], name="toy", programs=("toy_tests",), failures=1)
    source = cplusplus.Source(tmp_path, "toy.cpp")
    tree = Tree(tmp_path, area, [source], source.mutants, 1)
    tree.build("mutants.cpp")
    return tree, Trials(tree, area)


def test_changes_are_tried_by_the_tests_that_reach_them(toy):
    tree, trials = toy
    tests = trials.record()
    assert {test.name for test in tests} == {"Child.Writes", "Sum.IsOfAllBelow", "Unchecked.IsOn"}
    results = {}
    for mutant, number in tree.numbers.items():
        reaching = [test for test in tests if tree.places[mutant] in test.places]
        results[f"{mutant.line} {mutant.text}"] = (
            [test.name for test in reaching], trials.is_noticed(reaching, number))
    child, total, unchecked = ["Child.Writes"], ["Sum.IsOfAllBelow"], ["Unchecked.IsOn"]
    assert results == {
        "4 ": (child, True), "5 ": (child, True), "10 <=": (total, True), "11 ": (total, True),
        "12 ": (total, True), "17 &&": (unchecked, False), "17 !=": (unchecked, False), "20 0": ([], False)}
