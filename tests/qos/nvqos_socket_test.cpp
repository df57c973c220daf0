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

/// A client of a socket in a folder of its own, which watches.
class Watching : public testing::Test {
  protected:
    void SetUp() override {
        ASSERT_TRUE(::mkdtemp(folder_));
        auto made = Socket::open(std::string(folder_) + "/socket", ::geteuid());
        ASSERT_TRUE(made) << made.error().sentence;
        socket = std::move(*made);
        client = connected();
        ASSERT_EQ(::send(client, "watch\n", 6, MSG_NOSIGNAL), 6);
        serve(0);
        EXPECT_EQ(received(), "ok\n");
        EXPECT_EQ(socket->watchers(), 1U);
    }
    void TearDown() override {
        ::close(client);
        socket.reset();
        ::unlink((std::string(folder_) + "/socket.lock").c_str());
        ::rmdir(folder_);
    }

    int connected() {
        const int made = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        const sockaddr_un address = *address_of(std::string(folder_) + "/socket");
        EXPECT_EQ(::connect(made, reinterpret_cast<const sockaddr *>(&address), sizeof(address)),
                  0);
        return made;
    }
    void serve(qos::Ns now) {
        socket->serve(now, [](const std::string &) { return "ok"; });
    }
    /// Returns what the client has been sent so far.
    std::string received() {
        std::string all;
        char part[4096];
        for (ssize_t got; (got = ::recv(client, part, sizeof(part), MSG_DONTWAIT)) > 0;)
            all.append(part, static_cast<std::size_t>(got));
        return all;
    }

    std::unique_ptr<Socket> socket;
    int client = -1;

  private:
    char folder_[16] = "/tmp/qos.XXXXXX";
};

TEST_F(Watching, ConnectionsAreNeverIdle) {
    constexpr qos::Ns day = 86'400 * qos::second;
    serve(day);
    socket->tell("one\n", day);
    serve(day);
    EXPECT_EQ(received(), "one\n");
    EXPECT_EQ(socket->wait(day), Socket::longest_idle) << "nothing is due";
    // A client may end its half of the connection, and what it sends is not read.
    ASSERT_EQ(::send(client, "list\n", 5, MSG_NOSIGNAL), 5);
    serve(day);
    ::shutdown(client, SHUT_WR);
    std::vector<pollfd> awaited;
    socket->add_to(awaited, day);
    EXPECT_EQ(::poll(awaited.data(), awaited.size(), 0), 0) << "the program would not rest";
    socket->tell("two\n", 2 * day);
    serve(2 * day);
    EXPECT_EQ(received(), "two\n");
    ::close(client);
    client = -1;
    serve(2 * day);
    EXPECT_EQ(socket->clients(), 0U);
}

TEST_F(Watching, ConnectionsThatTakeNothingAreClosed) {
    const std::string line = std::string(1023, 'x') + "\n";
    for (int n = 0; n < 500; n++)
        socket->tell(line, qos::second);
    serve(qos::second);
    EXPECT_EQ(socket->clients(), 1U);
    serve(qos::second + Socket::patience);
    EXPECT_EQ(socket->clients(), 0U);
}

TEST_F(Watching, ConnectionsThatTakeSomethingStay) {
    const std::string line = std::string(1023, 'x') + "\n";
    for (int n = 0; n < 500; n++)
        socket->tell(line, qos::second);
    serve(qos::second);
    char some[256 * 1024];
    EXPECT_GT(::recv(client, some, sizeof(some), MSG_DONTWAIT), 0);
    serve(qos::second + Socket::patience - 1);
    EXPECT_EQ(socket->wait(qos::second + Socket::patience), Socket::patience - 1);
    serve(qos::second + Socket::patience);
    EXPECT_EQ(socket->clients(), 1U);
    EXPECT_GT(received().size(), 0U);
}

TEST_F(Watching, ConnectionsWithTooMuchWaitingEndAfterIt) {
    const std::string line = std::string(1023, 'x') + "\n";
    constexpr std::size_t lines = 2 * Socket::most_waiting / 1024;
    for (std::size_t n = 0; n < lines; n++)
        socket->tell(line, qos::second);
    std::string all;
    for (std::size_t n = 0; n < lines && socket->clients(); n++) {
        serve(qos::second);
        all += received();
    }
    EXPECT_EQ(socket->clients(), 0U) << "its end says that changes were left out";
    EXPECT_EQ(all.size(), Socket::most_waiting) << "whole lines";
}

TEST_F(Watching, ConnectionsAreNotReplacedByNewOnes) {
    std::vector<int> others;
    for (std::size_t n = 0; n < 2 * Socket::most_clients; n++) {
        others.push_back(connected());
        serve(static_cast<qos::Ns>(n + 1) * qos::ms);
    }
    EXPECT_EQ(socket->clients(), Socket::most_clients);
    EXPECT_EQ(socket->watchers(), 1U);
    for (const int other : others)
        ::close(other);
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
