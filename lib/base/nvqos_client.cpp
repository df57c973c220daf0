// SPDX-License-Identifier: MIT OR GPL-2.0
#include "nvqos_client.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>
#include <utility>

#include "printable.hpp"
#include "sudo.hpp"

namespace nvdebug::base {
namespace {

tl::unexpected<AskFailure> fail(exit_status::Exit exit, std::string sentence) {
    return tl::unexpected(AskFailure{exit, std::move(sentence)});
}

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

tl::expected<sockaddr_un, AskFailure> socket_address(const std::string &path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.empty() || path.size() >= sizeof(address.sun_path))
        return fail(exit_status::bad_usage, "the path of a socket has 1 to " +
                                                std::to_string(sizeof(address.sun_path) - 1) +
                                                " bytes, not " + std::to_string(path.size()));
    std::memcpy(address.sun_path, path.data(), path.size());
    return address;
}

tl::expected<std::string, AskFailure> ask_nvqos(const std::string &path, const std::string &line,
                                                std::chrono::seconds patience) {
    const auto address = socket_address(path);
    if (!address)
        return tl::unexpected(address.error());
    const std::string answer =
        answer_to(line, *address, {static_cast<time_t>(patience.count()), 0});
    const int error = errno;
    const std::string place = printable(path);
    if (answer.empty() && (error == EACCES || error == EPERM))
        return fail(exit_status::refused,
                    place + " answers root alone: use 'sudo " + name_for_root("nvqos") + " …'");
    if (answer.empty() && error == EAGAIN)
        return fail(exit_status::failed, "the nvqos at " + place + " has not answered within " +
                                             std::to_string(patience.count()) +
                                             " s; try again, and see 'systemctl status nvqos'");
    if (answer.empty())
        return fail(exit_status::failed, "no nvqos answers at " + place + ": " +
                                             ::strerrordesc_np(error) +
                                             "; start one with 'sudo systemctl start nvqos', or "
                                             "'sudo " +
                                             name_for_root("nvqos") + " --socket'");
    const std::size_t blank = std::min(answer.find(' '), answer.size());
    const std::string word = answer.substr(0, blank),
                      rest = printable(answer.substr(std::min(blank + 1, answer.size())));
    if (word == "ok")
        return rest;
    if ((word == "refused" || word == "error") && !rest.empty())
        return fail(exit_status::refused, rest);
    return fail(exit_status::refused, "what answers at " + place + " is no nvqos");
}

} // namespace nvdebug::base
