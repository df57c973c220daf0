// SPDX-License-Identifier: MIT OR GPL-2.0
// The socket of a program that has few descriptors left.
#include "tools/nvqos/serve/client.hpp"
#include "tools/nvqos/serve/socket.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using namespace nvqos;

/// A connection that cannot be accepted for lack of descriptors stays, and would end each wait at
/// once.
TEST(Sockets, RestWithoutDescriptors) {
    char folder[] = "/tmp/qos.XXXXXX";
    ASSERT_TRUE(::mkdtemp(folder));
    const std::string path = std::string(folder) + "/socket";
    {
        auto made = Socket::open(path, ::geteuid());
        ASSERT_TRUE(made) << made.error().sentence;
        Socket &socket = **made;
        const auto answer = [](const std::string &line) { return line; };
        const int client = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        const sockaddr_un address = *address_of(path);
        ASSERT_EQ(::connect(client, reinterpret_cast<const sockaddr *>(&address), sizeof(address)),
                  0);
        rlimit before{};
        ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
        const rlimit none{static_cast<rlim_t>(client) + 1, before.rlim_max};
        ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
        constexpr qos::Ns now = 100 * qos::second, later = now + Socket::rest;
        socket.serve(now, answer);
        const qos::Ns wait = socket.wait(now);
        std::vector<pollfd> awaited, awaited_later;
        socket.add_to(awaited, now + 1);
        socket.add_to(awaited_later, later);
        ::setrlimit(RLIMIT_NOFILE, &before);
        EXPECT_EQ(socket.clients(), 0U);
        EXPECT_TRUE(awaited.empty()) << "the listener is ready all the time";
        EXPECT_EQ(wait, Socket::rest);
        EXPECT_EQ(awaited_later.size(), 1U);
        // No connection is lost.
        socket.serve(later, answer);
        EXPECT_EQ(socket.clients(), 1U);
        ::close(client);
    }
    ::unlink((path + ".lock").c_str());
    ::rmdir(folder);
}

/// Another user may not connect to the running nvqos, so the error does not advise to start one.
TEST(Clients, AreSentToRootIfTheyAreOtherUsers) {
    if (::geteuid() != 0)
        GTEST_SKIP() << "takes root, to become another user";
    char folder[] = "/tmp/qos.XXXXXX";
    ASSERT_TRUE(::mkdtemp(folder));
    ASSERT_EQ(::chmod(folder, 0755), 0);
    const std::string path = std::string(folder) + "/socket";
    {
        auto made = Socket::open(path);
        ASSERT_TRUE(made) << made.error().sentence;
        const pid_t child = ::fork();
        if (child == 0) {
            constexpr uid_t nobody = 65534;
            const bool is_other = ::setresuid(nobody, nobody, nobody) == 0;
            const auto answer = ask(path, "status", std::chrono::seconds(1));
            ::_exit(is_other && !answer && answer.error().exit == refused &&
                            answer.error().sentence.find("root alone") != std::string::npos
                        ? 0
                        : 1);
        }
        int status = 0;
        ASSERT_EQ(::waitpid(child, &status, 0), child);
        EXPECT_EQ(status, 0);
    }
    const auto nobody = ask(path, "status", std::chrono::seconds(1));
    ASSERT_FALSE(nobody);
    EXPECT_EQ(nobody.error().exit, failed);
    EXPECT_NE(nobody.error().sentence.find("sudo systemctl start nvqos"), std::string::npos);
    ::unlink((path + ".lock").c_str());
    ::rmdir(folder);
}

} // namespace
