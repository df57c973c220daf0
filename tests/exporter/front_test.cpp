// SPDX-License-Identifier: MIT OR GPL-2.0
#include "tools/exporter/front.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>
#include <malloc.h>
#include <netinet/in.h>
#include <new>
#include <poll.h>
#include <random>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>
#include <zlib.h>

#include "tests/support/waiting.hpp"

namespace {

/// The number of bytes that the front has from operator new. It is in memory that the front shares
/// with the test; nullptr in the test's own process.
std::atomic<std::int64_t> *counted = nullptr;

void count(void *memory, int sign) {
    if (counted && memory)
        *counted += sign * static_cast<std::int64_t>(::malloc_usable_size(memory));
}

} // namespace

// The operators are not inlined, so that the compiler does not see malloc() and delete as a
// mismatch.
[[gnu::noinline]] void *operator new(std::size_t size) {
    void *const memory = std::malloc(size);
    if (!memory)
        throw std::bad_alloc();
    count(memory, 1);
    return memory;
}

[[gnu::noinline]] void operator delete(void *memory) noexcept {
    count(memory, -1);
    std::free(memory);
}

[[gnu::noinline]] void operator delete(void *memory, std::size_t) noexcept {
    operator delete(memory);
}

namespace nvdebug::exporter {
namespace {

using driver_test::comes_true;

constexpr std::size_t text_size = 4 << 20;
constexpr const char *plain_request = "GET /metrics HTTP/1.1\r\n\r\n",
                     *gzip_request = "GET /metrics HTTP/1.1\r\nAccept-Encoding: gzip\r\n\r\n";

/// Returns a text that packing does not make smaller.
std::string random_text() {
    std::mt19937_64 random(1);
    std::string text(text_size, '\0');
    for (char &one : text)
        one = static_cast<char>(random());
    return text;
}

bool is_readable(int descriptor) {
    pollfd one{descriptor, POLLIN, 0};
    return ::poll(&one, 1, 0) == 1;
}

/// Reads until the other side closes.
std::string read_all(int descriptor) {
    std::string all;
    std::vector<char> bytes(65536);
    for (ssize_t got; (got = ::recv(descriptor, bytes.data(), bytes.size(), 0)) > 0;)
        all.append(bytes.data(), static_cast<std::size_t>(got));
    return all;
}

std::string body_of(const std::string &answer) {
    return answer.substr(answer.find("\r\n\r\n") + 4);
}

std::string unpacked(const std::string &packed) {
    std::string text(text_size + 1, '\0');
    z_stream stream{};
    constexpr int gzip_window = 15 + 16;
    EXPECT_EQ(::inflateInit2(&stream, gzip_window), Z_OK);
    stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(packed.data()));
    stream.avail_in = static_cast<uInt>(packed.size());
    stream.next_out = reinterpret_cast<Bytef *>(text.data());
    stream.avail_out = static_cast<uInt>(text.size());
    EXPECT_EQ(::inflate(&stream, Z_FINISH), Z_STREAM_END);
    text.resize(stream.total_out);
    ::inflateEnd(&stream);
    return text;
}

/// Runs a front in a process of its own. The test is its reader and its clients.
class Front : public testing::Test {
  protected:
    void SetUp() override {
        void *const shared = ::mmap(nullptr, sizeof(*bytes_), PROT_READ | PROT_WRITE,
                                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        ASSERT_NE(shared, MAP_FAILED);
        bytes_ = new (shared) std::atomic<std::int64_t>(0);
        const int listener = listen_at({"127.0.0.1", "0"});
        ASSERT_GE(listener, 0);
        socklen_t length = sizeof(address_);
        ASSERT_EQ(::getsockname(listener, reinterpret_cast<sockaddr *>(&address_), &length), 0);
        int ends[2];
        ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
        front_ = ::fork();
        ASSERT_GE(front_, 0);
        if (front_ == 0) {
            counted = bytes_;
            run_front(listener, ends[1], "test");
        }
        ::close(listener);
        ::close(ends[1]);
        reader_ = ends[0];
    }

    void TearDown() override {
        for (const int client : clients_)
            ::close(client);
        ::close(reader_);
        ::kill(front_, SIGKILL);
        ::waitpid(front_, nullptr, 0);
        ::munmap(bytes_, sizeof(*bytes_));
    }

    /// Connects and sends a request. Returns the socket, which stays open until the test ends.
    int ask(const char *request) {
        const int client = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        EXPECT_EQ(::connect(client, reinterpret_cast<sockaddr *>(&address_), sizeof(address_)), 0);
        const timeval bound{driver_test::plenty.count(), 0};
        ::setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &bound, sizeof(bound));
        EXPECT_GT(::send(client, request, std::strlen(request), MSG_NOSIGNAL), 0);
        clients_.push_back(client);
        return client;
    }

    /// Answers the front's questions until each client has the begin of an answer.
    void answer_clients() {
        ASSERT_TRUE(comes_true([&] {
            if (is_readable(reader_)) {
                EXPECT_TRUE(await_question(reader_) && answer_question(reader_, text_));
                questions_++;
            }
            return std::ranges::all_of(clients_, is_readable);
        }));
    }

    /// Returns far more bytes than headers, the states of connections and the front itself need.
    std::size_t beside_bodies() const { return clients_.size() * 4096; }

    const std::string text_ = random_text();
    sockaddr_in address_{};
    pid_t front_ = -1;
    int reader_ = -1;
    std::vector<int> clients_;
    std::size_t questions_ = 0;
    std::atomic<std::int64_t> *bytes_ = nullptr;
};

TEST_F(Front, KeepsOneTextForAllClientsThatDoNotRead) {
    for (int n = 0; n < 200; n++)
        ask(plain_request);
    answer_clients();
    EXPECT_LT(questions_, 10U);
    EXPECT_LE(static_cast<std::size_t>(*bytes_), questions_ * text_size + beside_bodies());
    for (const int client : {clients_.front(), clients_.back()})
        EXPECT_EQ(body_of(read_all(client)), text_);
}

TEST_F(Front, KeepsOnePackedTextForAllClients) {
    for (int n = 0; n < 100; n++) {
        ask(gzip_request);
        ask(plain_request);
    }
    answer_clients();
    EXPECT_LT(questions_, 10U);
    // Packing makes the random text a little longer.
    EXPECT_LE(static_cast<std::size_t>(*bytes_),
              questions_ * (2 * text_size + text_size / 100) + beside_bodies());
    EXPECT_EQ(unpacked(body_of(read_all(clients_[0]))), text_);
    EXPECT_EQ(body_of(read_all(clients_[1])), text_);
}

TEST_F(Front, ClosesConnectionsWithOldTextsIfClientsAskRepeatedly) {
    constexpr std::size_t count = 2 * bodies_most / text_size;
    for (std::size_t n = 0; n < count; n++) {
        ask(plain_request);
        answer_clients();
    }
    EXPECT_EQ(questions_, count);
    EXPECT_LE(static_cast<std::size_t>(*bytes_), bodies_most + beside_bodies());
    EXPECT_EQ(body_of(read_all(clients_.back())), text_);
    EXPECT_LT(body_of(read_all(clients_.front())).size(), text_size);
}

TEST_F(Front, AnswersHeadWithoutBody) {
    const int client = ask("HEAD /metrics HTTP/1.1\r\n\r\n");
    answer_clients();
    const std::string answer = read_all(client);
    EXPECT_NE(answer.find("Content-Length: " + std::to_string(text_size)), answer.npos);
    EXPECT_EQ(body_of(answer), "");
}

TEST_F(Front, BoundsTheBuffersOfConnections) {
    const int listener = listen_at({"127.0.0.1", "0"});
    for (const int buffer : {SO_SNDBUF, SO_RCVBUF}) {
        int bytes = 0;
        socklen_t length = sizeof(bytes);
        ASSERT_EQ(::getsockopt(listener, SOL_SOCKET, buffer, &bytes, &length), 0);
        EXPECT_LE(bytes, 256 << 10) << "the kernel doubles what is asked for";
    }
    ::close(listener);
}

} // namespace
} // namespace nvdebug::exporter
