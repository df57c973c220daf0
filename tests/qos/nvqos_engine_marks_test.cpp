// SPDX-License-Identifier: MIT OR GPL-2.0
// Marks of engines that they are busy or idle: the table of processes, and the socket that fills it.
#include <atomic>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "nvdebug/engine_mark.h"
#include "tests/support/waiting.hpp"
#include "tools/nvqos/serve/mark_listener.hpp"

namespace {

using driver_test::comes_true;
using nvqos::EngineMarks;
using nvqos::MarkListener;

TEST(EngineMarks, AreThoseOfTheLastTime) {
    EngineMarks marks;
    EXPECT_EQ(marks.busy(7, 0), std::nullopt);
    EXPECT_TRUE(marks.take(7, "busy", 0));
    EXPECT_FALSE(marks.take(7, "busy", 1)) << "that is no news";
    EXPECT_EQ(marks.busy(7, 1), true);
    EXPECT_TRUE(marks.take(7, "idle", 2));
    EXPECT_EQ(marks.busy(7, 2), false);
    EXPECT_EQ(marks.busy(8, 2), std::nullopt);
}

TEST(EngineMarks, AreForgotten) {
    EngineMarks marks;
    marks.take(7, "busy", 0);
    EXPECT_EQ(marks.busy(7, EngineMarks::lasts - 1), true);
    EXPECT_EQ(marks.busy(7, EngineMarks::lasts), std::nullopt);
    EXPECT_TRUE(marks.take(7, "busy", EngineMarks::lasts)) << "it is news again";
}

TEST(EngineMarks, OfOtherWordsAreLeftOut) {
    EngineMarks marks;
    for (const char *text : {"", "BUSY", "busy ", "busy\n", "first token"})
        EXPECT_FALSE(marks.take(7, text, 0)) << text;
    EXPECT_EQ(marks.busy(7, 0), std::nullopt);
}

TEST(EngineMarks, HaveABound) {
    EngineMarks marks;
    for (std::uint32_t pid = 1; pid <= EngineMarks::most + 1; pid++)
        marks.take(pid, "busy", pid);
    EXPECT_EQ(marks.busy(1, 1000), std::nullopt);
    EXPECT_EQ(marks.busy(2, 1000), true);
    EXPECT_EQ(marks.busy(EngineMarks::most + 1, 1000), true);
}

constexpr qos::Goal asked_of_engine{
    .aim = qos::Aim::latency, .ttft = {200 * qos::ms}, .tpot = {10 * qos::ms}};

/// The marks of process 7.
class EngineRequests : public testing::Test {
  protected:
    bool take(std::string_view text, qos::Ns at_ms) { return marks.take(7, text, at_ms * qos::ms); }
    [[nodiscard]] std::optional<nvqos::EngineTimes>
    times(qos::Ns at_ms, const qos::Goal &goal = asked_of_engine) const {
        return marks.times(std::vector<std::uint32_t>{7}, goal, at_ms * qos::ms);
    }
    EngineMarks marks;
};

TEST_F(EngineRequests, HaveATimeToTheFirstTokenAndOnePerLaterToken) {
    EXPECT_FALSE(times(0)) << "no marks yet";
    take("request a", 100);
    EXPECT_FALSE(times(200)) << "it is not late";
    take("first a", 150);
    take("end a 11", 250);
    const auto found = times(300);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->requests, 1U);
    EXPECT_EQ(found->ttft, 50 * qos::ms);
    EXPECT_EQ(found->tpot, 10 * qos::ms);
    EXPECT_TRUE(found->is_kept(asked_of_engine));
    qos::Goal less = asked_of_engine;
    less.tpot.most--;
    EXPECT_FALSE(found->is_kept(less));
}

TEST_F(EngineRequests, AreThePercentileOfTheGoal) {
    for (int n = 0; n < 100; n++) {
        const std::string id = std::to_string(n);
        take("request " + id, 1000);
        take("first " + id, 1001 + n);
    }
    EXPECT_EQ(times(1200)->ttft, 99 * qos::ms);
    qos::Goal half = asked_of_engine;
    half.ttft.percent = 50;
    EXPECT_EQ(times(1200, half)->ttft, 50 * qos::ms);
    half.ttft.percent = 100;
    EXPECT_EQ(times(1200, half)->ttft, 100 * qos::ms);
    EXPECT_EQ(times(1200)->tpot, std::nullopt);
}

TEST_F(EngineRequests, CountAsLateBeforeTheirFirstToken) {
    take("request a", 0);
    EXPECT_FALSE(times(200));
    EXPECT_EQ(times(300)->ttft, 300 * qos::ms);
    EXPECT_FALSE(times(300)->is_kept(asked_of_engine));
}

TEST_F(EngineRequests, MakeTheirEngineBusy) {
    EXPECT_TRUE(take("request a", 0));
    EXPECT_FALSE(take("request b", 1));
    EXPECT_FALSE(take("end a 1", 2));
    EXPECT_EQ(marks.busy(7, 3 * qos::ms), true);
    EXPECT_TRUE(take("end b 1", 4));
    EXPECT_EQ(marks.busy(7, 5 * qos::ms), false);
    take("request c", 6);
    EXPECT_TRUE(take("idle", 7)) << "which ends all";
    take("first c", 8);
    EXPECT_FALSE(times(8));
}

TEST_F(EngineRequests, OfWhichNothingFitsAreLeftOut) {
    for (const char *text : {"request", "request ", "first a", "end a", "end a 0", "end a -1",
                             "end a 1 2", "request a b", "end b 5", "token a"})
        take(text, 0);
    take("request " + std::string(65, 'x'), 0);
    EXPECT_FALSE(times(5000));
}

TEST_F(EngineRequests, AreForgottenAfterAMinute) {
    take("request a", 0);
    take("first a", 10);
    EXPECT_TRUE(times(60'009));
    EXPECT_FALSE(times(60'010));
    take("request b", 0);
    EXPECT_FALSE(times(61'000)) << "its end was lost";
}

TEST_F(EngineRequests, HaveABound) {
    for (std::size_t n = 0; n < 3 * EngineMarks::most_requests; n++)
        take("request " + std::to_string(n), 0);
    EXPECT_EQ(times(1000)->requests, EngineMarks::most_requests);
}

/// A listener at a path of its own, to which nvdebug_mark() of this process sends.
class Listener : public testing::Test {
  protected:
    Listener() { setenv("NVDEBUG_MARKS", path.c_str(), 1); }
    ~Listener() override { unsetenv("NVDEBUG_MARKS"); }
    Listener(const Listener &) = delete;
    Listener &operator=(const Listener &) = delete;

    [[nodiscard]] static qos::Ns now() {
        return static_cast<qos::Ns>(nvdebug::base::monotonic_ns());
    }
    [[nodiscard]] std::optional<bool> own() const {
        return marks->busy(static_cast<std::uint32_t>(getpid()), now());
    }

    const std::string path = testing::TempDir() + "marks." + std::to_string(getpid());
    const std::shared_ptr<EngineMarks> marks = std::make_shared<EngineMarks>();
    std::atomic<int> news = 0;
};

TEST_F(Listener, TakesMarksOfTheirSender) {
    MarkListener listener(path, marks, [&] { news++; });
    ASSERT_TRUE(listener.is_open());
    EXPECT_EQ(nvdebug_mark("busy"), 0);
    EXPECT_TRUE(comes_true([&] { return own() == true && news == 1; }));
    const pid_t child = fork();
    if (child == 0)
        _exit(nvdebug_mark("idle"));
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    EXPECT_TRUE(
        comes_true([&] { return marks->busy(static_cast<std::uint32_t>(child), now()) == false; }));
    EXPECT_EQ(own(), true) << "the kernel names the sender";
}

TEST_F(Listener, LetsEveryUserSendAndRemovesItsSocket) {
    {
        const MarkListener listener(path, marks, [] {});
        struct stat about {};
        ASSERT_EQ(stat(path.c_str(), &about), 0);
        EXPECT_EQ(about.st_mode & 0777U, 0666U);
    }
    EXPECT_FALSE(std::filesystem::exists(path));
    EXPECT_EQ(nvdebug_mark("busy"), ENOENT) << "and that does not wait";
}

TEST_F(Listener, ReplacesTheSocketOfAnEndedProgramAndNothingElse) {
    const int left = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof(address.sun_path) - 1);
    ASSERT_EQ(bind(left, reinterpret_cast<const sockaddr *>(&address), sizeof(address)), 0);
    close(left);
    EXPECT_TRUE(MarkListener(path, marks, [] {}).is_open());
    std::filesystem::create_directory(path);
    EXPECT_FALSE(MarkListener(path, marks, [] {}).is_open());
    EXPECT_TRUE(std::filesystem::is_directory(path));
    std::filesystem::remove(path);
    EXPECT_FALSE(MarkListener(path + std::string(200, 'x'), marks, [] {}).is_open());
}

TEST_F(Listener, EndsWhereDescriptorsAreFew) {
    rlimit before{};
    ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
    const int next = open("/dev/null", O_RDONLY | O_CLOEXEC);
    close(next);
    int open_with = 0;
    for (int left = 1; left <= 6; left++) {
        const rlimit few{static_cast<rlim_t>(next + left), before.rlim_max};
        ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
        open_with += MarkListener(path, marks, [] {}).is_open();
    }
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
    EXPECT_TRUE(open_with > 0 && open_with < 6) << open_with;
}

/// A flood is lost, and not waited for; after it other marks are taken again.
TEST_F(Listener, SurvivesAFlood) {
    const MarkListener listener(path, marks, [&] { news++; });
    int lost = 0;
    for (int n = 0; n < 20'000; n++)
        lost += nvdebug_mark(n % 2 ? "busy" : "idle") == EAGAIN;
    EXPECT_GT(lost, 0) << "the queue has a bound";
    EXPECT_TRUE(comes_true([&] { return nvdebug_mark("busy") == 0 && own() == true; }));
}

} // namespace
