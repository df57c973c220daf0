// SPDX-License-Identifier: MIT OR GPL-2.0
// The program itself: options, exit codes, and a run from its start to QEMU's end.
#include "transport/proxy_protocol.hpp"
#include "transport/unique_fd.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace nvmodel::test {
namespace {

class Program : public testing::Test {
  protected:
    Program()
        : folder_(std::filesystem::temp_directory_path() /
                  ("nvdebug-model-" + std::to_string(::getpid()))),
          control_(folder_ / "control") {
        std::filesystem::create_directory(folder_);
        std::array<int, 2> ends{};
        EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
        qemu_ = UniqueFd(ends[0]);
        models_ = UniqueFd(ends[1]);
    }
    ~Program() override {
        if (pid_ > 0) {
            ::kill(pid_, SIGKILL);
            ::waitpid(pid_, nullptr, 0);
        }
        std::filesystem::remove_all(folder_);
    }

    void start(std::vector<std::string> arguments) {
        pid_ = ::fork();
        ASSERT_GE(pid_, 0);
        if (pid_ != 0)
            return;
        ::close(qemu_.get());
        redirect("out", STDOUT_FILENO);
        redirect("err", STDERR_FILENO);
        std::vector<char *> argv{const_cast<char *>(NVDEBUG_MODEL_PROGRAM)};
        for (std::string &argument : arguments)
            argv.push_back(argument.data());
        argv.push_back(nullptr);
        ::execv(NVDEBUG_MODEL_PROGRAM, argv.data());
        ::_exit(99);
    }

    void redirect(const std::string &stream, int to) const {
        const int fd = ::open((folder_ / stream).c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
        if (fd < 0 || ::dup2(fd, to) < 0)
            ::_exit(99);
    }

    /// Returns options that suffice, and `more`.
    std::vector<std::string> options(const std::vector<std::string> &more = {}) const {
        std::vector<std::string> all{"--board",   "titan-v",
                                     "--qemu-fd", std::to_string(models_.get()),
                                     "--control", control_.string()};
        all.insert(all.end(), more.begin(), more.end());
        return all;
    }

    int wait() {
        int status = 0;
        EXPECT_EQ(::waitpid(pid_, &status, 0), pid_);
        pid_ = -1;
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }

    int run(const std::vector<std::string> &arguments) {
        start(arguments);
        return wait();
    }

    std::string said(const std::string &stream) const {
        std::ifstream in(folder_ / stream);
        std::ostringstream text;
        text << in.rdbuf();
        return text.str();
    }

    /// Returns a request's reply. The program may take a moment to listen.
    std::string ask(const std::string &line) const {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        control_.native().copy(address.sun_path, sizeof(address.sun_path) - 1);
        for (int attempt = 0; attempt < 6000; ++attempt) {
            const UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM, 0));
            if (::connect(fd.get(), reinterpret_cast<const sockaddr *>(&address),
                          sizeof(address)) != 0) {
                std::this_thread::sleep_for(std::chrono::milliseconds(10));
                continue;
            }
            const std::string request = line + "\n";
            EXPECT_GT(::send(fd.get(), request.data(), request.size(), MSG_NOSIGNAL), 0);
            std::array<char, 4096> buffer{};
            const ssize_t got = ::recv(fd.get(), buffer.data(), buffer.size(), 0);
            return {buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0))};
        }
        return {};
    }

    std::filesystem::path folder_;
    std::filesystem::path control_;
    UniqueFd qemu_;
    UniqueFd models_;
    pid_t pid_ = -1;
};

TEST_F(Program, Help) {
    EXPECT_EQ(run({"--help"}), 0);
    EXPECT_NE(said("out").find("--sysmem"), std::string::npos);
    EXPECT_EQ(said("err"), "");
}

TEST_F(Program, Version) {
    EXPECT_EQ(run({"--version"}), 0);
    EXPECT_TRUE(said("out").starts_with("nvdebug-model "));
}

TEST_F(Program, List) {
    EXPECT_EQ(run({"--list"}), 0);
    EXPECT_NE(said("out").find("gtx1060-3gb"), std::string::npos);
    EXPECT_NE(said("out").find("three-tasks"), std::string::npos);
}

TEST_F(Program, UsageErrors) {
    const std::string fd = std::to_string(models_.get());
    const std::vector<std::vector<std::string>> bad{
        {},
        {"--nonsense"},
        {"--board"},
        {"--board", "titan-v"},
        {"--board", "titan-v", "--control", control_.string()},
        {"--board", "titan-v", "--control", control_.string(), "--qemu-fd", "five"},
        {"--board", "titan-v", "--control", control_.string(), "--qemu-fd", "1"},
        options({"--vfio-user", (folder_ / "vfio").string()}),
        options({"--sysmem", "0x1000"}),
        options({"--sysmem", "0x1000:0"}),
        options({"--sysmem", "0xffffffffffffffff:2"}),
        options({"--fault", "bang"}),
        options({"extra"}),
    };
    for (const auto &arguments : bad) {
        EXPECT_EQ(run(arguments), 1) << arguments.size();
        EXPECT_NE(said("err"), "");
    }
}

TEST_F(Program, BadFiles) {
    EXPECT_EQ(run(options({"--workload", "nonsense"})), 2);
    EXPECT_NE(said("err").find("three-tasks"), std::string::npos);
    std::ofstream(folder_ / "workload.json") << "{";
    EXPECT_EQ(run(options({"--workload", (folder_ / "workload.json").string()})), 2);
    EXPECT_EQ(said("err"), "nvdebug-model: " + (folder_ / "workload.json").string() +
                               ": byte 2: not valid JSON\n");
    EXPECT_EQ(run(options({"--workload", "sysmem"})), 2);
    EXPECT_EQ(run(options({"--data", folder_.string()})), 2);
}

TEST_F(Program, EndsWithQemu) {
    start(options(
        {"--workload", "three-tasks", "--fault", "read 0x4 0x5", "--fault", "stuck 0x1700"}));
    models_ = UniqueFd();
    EXPECT_EQ(ask("info"), "{\"ok\":true,\"board\":\"titan-v\",\"workload\":\"three-tasks\","
                           "\"chip\":\"GV100\",\"started\":false,\"asleep\":false}\n");
    qemu_ = UniqueFd();
    EXPECT_EQ(wait(), 0);
    EXPECT_EQ(said("err"), "");
    EXPECT_FALSE(std::filesystem::exists(control_));
}

TEST_F(Program, EndsWithItsVfioUserClient) {
    const std::filesystem::path path = folder_ / "vfio";
    start({"--board", "titan-v", "--vfio-user", path.string(), "--control", control_.string()});
    EXPECT_NE(ask("info"), "");
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.native().copy(address.sun_path, sizeof(address.sun_path) - 1);
    {
        const UniqueFd client(::socket(AF_UNIX, SOCK_STREAM, 0));
        ASSERT_EQ(
            ::connect(client.get(), reinterpret_cast<const sockaddr *>(&address), sizeof(address)),
            0);
    }
    EXPECT_EQ(wait(), 0);
    EXPECT_EQ(said("err"), "");
    EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(Program, EndsOnNonsenseFromQemu) {
    start(options());
    models_ = UniqueFd();
    EXPECT_NE(ask("info"), "");
    const proxy::Header header{77, 0, 0};
    ASSERT_EQ(::send(qemu_.get(), &header, sizeof(header), MSG_NOSIGNAL),
              static_cast<ssize_t>(sizeof(header)));
    EXPECT_EQ(wait(), 3);
    EXPECT_EQ(said("err"), "nvdebug-model: unknown command 77\n");
}

} // namespace
} // namespace nvmodel::test
