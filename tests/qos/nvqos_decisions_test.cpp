// SPDX-License-Identifier: MIT OR GPL-2.0
// The file of --decisions, and what a replay prints for a record with other decisions.
#include "replay.hpp"

#include "tools/nvqos/keep/recorded_governor.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <sys/resource.h>
#include <sys/stat.h>
#include <tuple>
#include <unistd.h>

namespace nvqos {
namespace {

using qos::ms;
using qos::Ns;
using qos::point;

std::string content_of(const std::string &path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

class DecisionsFile : public testing::Test {
  protected:
    ~DecisionsFile() override { ::unlink(path.c_str()); }

    std::shared_ptr<Decisions> open(const Decisions::Bounds &bounds = {}) {
        auto opened = Decisions::open(
            path, [this](const std::string &text) { said.push_back(text); }, bounds);
        EXPECT_TRUE(opened) << opened.error().sentence;
        return *opened;
    }

    const std::string path = testing::TempDir() + "nvqos_decisions_file_" +
                             testing::UnitTest::GetInstance()->current_test_info()->name();
    std::vector<std::string> said; ///< read after finish()
};

TEST_F(DecisionsFile, HasLinesInTheirOrder) {
    const auto file = open();
    file->add("{\"gpu\":0}");
    file->add("{\"gpu\":1}");
    file->finish();
    file->add("{\"gpu\":2}");
    const std::string text = content_of(path);
    EXPECT_TRUE(text.starts_with(R"({"schema":"nvqos/decisions","schema_version":"1.1",)")) << text;
    EXPECT_TRUE(text.ends_with("}\n{\"gpu\":0}\n{\"gpu\":1}\n")) << text;
    EXPECT_TRUE(said.empty());
}

TEST_F(DecisionsFile, IsNewAndForItsOwnerOnly) {
    std::ofstream(path) << "of an earlier run";
    ASSERT_EQ(::chmod(path.c_str(), 0666), 0);
    const int other = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    open()->finish();
    struct stat about {};
    ASSERT_EQ(::stat(path.c_str(), &about), 0);
    EXPECT_EQ(about.st_mode & 07777, 0600u);
    char first = 0;
    EXPECT_EQ(::read(other, &first, 1), 1); // whoever has the earlier file open does not see ours
    EXPECT_EQ(first, 'o');
    ::close(other);
}

TEST_F(DecisionsFile, RefusesPathsThatAreNoRegularFile) {
    const std::string target = path + ".target";
    std::ofstream(target) << "kept";
    ASSERT_EQ(::symlink(target.c_str(), path.c_str()), 0);
    const auto opened = Decisions::open(path, [](const std::string &) {});
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().exit, bad_usage);
    EXPECT_NE(opened.error().sentence.find("is no regular file"), std::string::npos)
        << opened.error().sentence;
    EXPECT_EQ(content_of(target), "kept");
    ::unlink(target.c_str());
    ::unlink(path.c_str());
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
    EXPECT_FALSE(Decisions::open(path, [](const std::string &) {}));
    EXPECT_FALSE(Decisions::open("/there/is/no/folder", [](const std::string &) {}));
}

TEST_F(DecisionsFile, EndsWithANoteAtItsBound) {
    const auto file = open({.file = 1000});
    for (int n = 0; n < 100; n++)
        file->add(std::string(49, 'x'));
    file->finish();
    const std::string text = content_of(path);
    EXPECT_LE(text.size(), 1000u);
    EXPECT_GT(text.size(), 900u);
    EXPECT_TRUE(text.ends_with("x\n"));
    ASSERT_EQ(said.size(), 1u);
    EXPECT_NE(said[0].find("the file has 1000 bytes, which is the most; goals are kept on"),
              std::string::npos)
        << said[0];
}

TEST_F(DecisionsFile, EndsWithANoteIfTheDiskIsTooSlow) {
    const auto file = open({.memory = 1000});
    file->add(std::string(2000, 'x'));
    file->add("a line that would leave a gap before it");
    file->finish();
    EXPECT_EQ(std::ranges::count(content_of(path), '\n'), 1); // the line on the form
    ASSERT_EQ(said.size(), 1u);
    EXPECT_NE(said[0].find("the disk is so slow that 1000 bytes wait for it"), std::string::npos)
        << said[0];
}

/// A limit on the size of files has the same effect as a full disk: a part of a write, and then an
/// error.
TEST_F(DecisionsFile, HasWholeLinesWhenTheDiskIsFull) {
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit little{1000, before.rlim_max};
    const auto file = open();
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &little), 0);
    for (int n = 0; n < 100; n++)
        file->add(std::string(63, 'x'));
    file->finish();
    ::setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, handler);
    const std::string text = content_of(path);
    EXPECT_GT(text.size(), 900u);
    EXPECT_LE(text.size(), 1000u);
    EXPECT_TRUE(text.ends_with("x\n"));
    ASSERT_EQ(said.size(), 1u);
    EXPECT_NE(said[0].find("File too large; goals are kept on"), std::string::npos) << said[0];
}

// --- replays ---

class Replayed : public DecisionsFile {
  protected:
    /// Records a governor with two tenants that take turns of 5 ms for half a second, with all
    /// calls that there are. Returns the lines.
    std::vector<std::string> recorded() {
        const auto file = open();
        const std::vector<qos::Goal> goals{
            {.aim = qos::Aim::share, .part = 10 * point, .cap = 20 * point}, {}};
        RecordedGovernor governor({file, 3}, {}, goals, 1000 * ms, qos::plan_alone);
        governor.set_tsgs(0, 1);
        governor.set_tsgs(1, 2);
        governor.set_in_effect(1, false);
        governor.set_pause(ms);
        Ns now = 1000 * ms;
        for (std::size_t n = 0; n < 100; n++) {
            governor.add({n % 2, n % 2 + 7, now, now + 5 * ms, true});
            now += 5 * ms;
            if (n == 50)
                governor.lose();
            if (n == 60) {
                const std::optional<std::size_t> before[] = {1, std::nullopt};
                governor.set_goals({{}, {.aim = qos::Aim::latency}}, before, now);
            }
            const bool needs = governor.needs_turns(now);
            governor.step(now, needs);
        }
        file->finish();
        std::vector<std::string> lines;
        std::istringstream all(content_of(path));
        for (std::string line; std::getline(all, line);)
            lines.push_back(line);
        return lines;
    }
};

TEST_F(Replayed, RecordsOfAllCallsHaveNoDifference) {
    replay::Replay run;
    std::set<std::string> calls;
    for (const std::string &line : recorded()) {
        EXPECT_EQ(run.take(line), line);
        if (const auto call = replay::Json::parse(line); call.contains("gpu"))
            calls.insert(std::next(call.begin()).key());
    }
    EXPECT_EQ(run.differences(), std::vector<std::string>());
    EXPECT_EQ(run.steps(), 100u);
    EXPECT_GE(run.pauses(), 1u);
    EXPECT_EQ(calls, (std::set<std::string>{"add", "begin", "lose", "needs_turns", "set_goals",
                                            "set_in_effect", "set_pause", "set_tsgs", "step"}));
}

TEST_F(Replayed, OtherLeversAreNamed) {
    auto lines = recorded();
    const auto step = std::ranges::find_if(
        lines, [](const std::string &line) { return line.find(R"("step")") != line.npos; });
    ASSERT_NE(step, lines.end());
    auto call = replay::Json::parse(*step);
    call["step"]["levers"][1] = {{"timeslice", 1'234'000}, {"paused", true}};
    const std::string right = std::exchange(*step, call.dump());
    replay::Replay run;
    for (const std::string &line : lines)
        EXPECT_EQ(run.take(line), &line == &*step ? right : line);
    ASSERT_EQ(run.differences().size(), 1u);
    const std::string &said = run.differences()[0];
    EXPECT_TRUE(said.find("gpu3, 0.005 s after its goals began: tenant 1 had 1234 us, paused in "
                          "the record, and has ") != said.npos)
        << said;
}

TEST_F(Replayed, OtherTimesOfStepsAreNamed) {
    auto lines = recorded();
    for (const auto &[call, key, sentence] :
         {std::tuple{"step", "due", "when the next step is due: it was "},
          std::tuple{"needs_turns", "returns", "whether turns are needed: it was "}}) {
        replay::Replay run;
        bool is_changed = false;
        for (const std::string &line : lines) {
            auto all = replay::Json::parse(line);
            if (all.contains(call) && !std::exchange(is_changed, true)) {
                replay::Json &value = all[call][key];
                value = value.is_boolean() ? replay::Json(!value.get<bool>()) : replay::Json(7);
            }
            run.take(all.dump());
        }
        ASSERT_EQ(run.differences().size(), 1u) << call;
        EXPECT_NE(run.differences()[0].find(sentence), std::string::npos) << run.differences()[0];
    }
}

TEST_F(Replayed, RecordsWithoutSenseAreErrors) {
    const auto lines = recorded();
    for (const char *line : {
             R"({"gpu":4,"lose":{}})",
             R"({"gpu":3,"forget":{}})",
             R"({"gpu":3})",
             R"({"gpu":3,"set_tsgs":{"tenant":2,"tsgs":1}})",
             R"({"gpu":3,"add":{"tenant":9,"task":1,"begin":1,"end":2,"ends":true}})",
             R"({"gpu":3,"set_goals":{"now":1,"goals":[],"before":[0]}})",
             R"({"gpu":3,"step":{"now":1)",
         }) {
        replay::Replay run;
        for (const std::string &before : lines)
            run.take(before);
        EXPECT_ANY_THROW(run.take(line)) << line;
    }
    EXPECT_ANY_THROW(replay::Replay().take(R"({"schema":"nvqos/epoch","schema_version":"1.0"})"));
}

} // namespace
} // namespace nvqos
