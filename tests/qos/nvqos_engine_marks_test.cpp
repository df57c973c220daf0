// SPDX-License-Identifier: MIT OR GPL-2.0
// Marks of engines that they are busy or idle: the table of processes, and the socket that fills it.
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>
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
