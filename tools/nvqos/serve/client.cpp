// SPDX-License-Identifier: MIT OR GPL-2.0
#include "client.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "lib/base/printable.hpp"
#include "lib/base/sudo.hpp"
#include "socket.hpp"

namespace nvqos {
namespace {

using nvdebug::base::printable;

/// An answer may have 1000 tenants on each of many GPUs in it.
constexpr std::size_t longest_answer = 64 << 20;

struct Connection {
    int descriptor = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    Connection() = default;
    Connection(const Connection &) = delete;
    Connection &operator=(const Connection &) = delete;
    ~Connection() {
        if (descriptor >= 0)
            ::close(descriptor);
    }
};

/// Returns the answer; empty: errno has the reason.
std::string answer_to(const std::string &line, const sockaddr_un &address, timeval patience) {
    const Connection to;
    const auto *const at = reinterpret_cast<const sockaddr *>(&address);
    if (to.descriptor < 0 ||
        ::setsockopt(to.descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)) ||
        ::setsockopt(to.descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) ||
        ::connect(to.descriptor, at, sizeof(address)))
        return "";
    const std::string sent = line + "\n";
    // A line is shorter than the socket's buffer, so that it is sent in one piece.
    if (::send(to.descriptor, sent.data(), sent.size(), MSG_NOSIGNAL) < 0)
        return "";
    std::string answer;
    std::array<char, 4096> part{};
    while (answer.size() < longest_answer) {
        const ssize_t got = ::recv(to.descriptor, part.data(), part.size(), 0);
        if (got < 0)
            return "";
        answer.append(part.data(), static_cast<std::size_t>(got));
        if (const std::size_t end = answer.find('\n'); end != answer.npos)
            return answer.substr(0, end);
        if (got == 0)
            break;
    }
    errno = ECONNRESET;
    return "";
}

} // namespace

Outcome<std::string> ask(const std::string &path, const std::string &line,
                         std::chrono::seconds patience) {
    const auto address = address_of(path);
    if (!address)
        return tl::unexpected(address.error());
    const std::string answer =
        answer_to(line, *address, {static_cast<time_t>(patience.count()), 0});
    const int error = errno;
    if (answer.empty() && (error == EACCES || error == EPERM))
        return fail(refused, fmt::format("{} answers root alone: use 'sudo {} …'", printable(path),
                                         nvdebug::base::name_for_root("nvqos")));
    if (answer.empty() && error == EAGAIN)
        return fail(failed, fmt::format("the nvqos at {} has not answered within {} s; try again, "
                                        "and see 'systemctl status nvqos'",
                                        printable(path), patience.count()));
    if (answer.empty())
        return fail(failed,
                    fmt::format("no nvqos answers at {}: {}; start one with 'sudo systemctl start "
                                "nvqos', or 'sudo {} --socket'",
                                printable(path), ::strerrordesc_np(error),
                                nvdebug::base::name_for_root("nvqos")));
    const std::size_t blank = std::min(answer.find(' '), answer.size());
    const std::string word = answer.substr(0, blank),
                      rest = printable(answer.substr(std::min(blank + 1, answer.size())));
    if (word == "ok")
        return rest;
    if ((word == "refused" || word == "error") && !rest.empty())
        return fail(refused, rest);
    return fail(refused, fmt::format("what answers at {} is no nvqos", printable(path)));
}

} // namespace nvqos
