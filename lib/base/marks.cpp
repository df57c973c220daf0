// SPDX-License-Identifier: MIT OR GPL-2.0
#include "marks.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <ctime>
#include <fstream>
#include <poll.h>
#include <sstream>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace nvdebug::base {
namespace {

// The sockets have abstract addresses (unix(7)): they end with their process, and /proc/net/unix
// lists them with '@'.
constexpr std::string_view prefix = "nvdebug-recorder-";

/// Fills in @p address. @return the address' length.
socklen_t address_of(const std::string &name, sockaddr_un &address) {
    address = {};
    address.sun_family = AF_UNIX;
    const std::size_t length = std::min(name.size(), sizeof address.sun_path - 1);
    std::memcpy(address.sun_path + 1, name.data(), length);
    return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length);
}

class Socket {
  public:
    Socket() : number(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {}
    Socket(const Socket &) = delete;
    Socket &operator=(const Socket &) = delete;
    ~Socket() {
        if (number >= 0)
            close(number);
    }
    const int number;
};

using Clock = std::chrono::steady_clock;

} // namespace

std::uint64_t monotonic_ns() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
           static_cast<std::uint64_t>(now.tv_nsec);
}

std::vector<std::string> running_recorders() {
    std::ifstream sockets("/proc/net/unix");
    std::vector<std::string> names;
    for (std::string line; std::getline(sockets, line);) {
        const std::size_t at = line.rfind(" @");
        if (at != line.npos && std::string_view(line).substr(at + 2).starts_with(prefix))
            names.push_back(line.substr(at + 2));
    }
    return names;
}

bool send_mark(const std::string &recorder, const Mark &mark, Clock::time_point deadline) {
    const std::string message = std::to_string(mark.at_ns) + " " + mark.gpu + " " + mark.text;
    const Socket own;
    sockaddr_un address;
    const socklen_t length = address_of(recorder, address);
    if (connect(own.number, reinterpret_cast<const sockaddr *>(&address), length))
        return true;
    while (send(own.number, message.data(), message.size(), MSG_NOSIGNAL) < 0 && errno == EAGAIN) {
        const auto left =
            std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
        if (left <= 0)
            return false;
        pollfd room{own.number, POLLOUT, 0};
        poll(&room, 1, static_cast<int>(left));
    }
    return true;
}

std::size_t notify_recorders(const std::string &gpu, const std::string &text) {
    constexpr std::chrono::milliseconds patience{100};
    const Mark mark{gpu, text};
    const Clock::time_point deadline = Clock::now() + patience;
    return static_cast<std::size_t>(
        std::ranges::count_if(running_recorders(), [&](const std::string &recorder) {
            return !send_mark(recorder, mark, deadline);
        }));
}

std::string missed_mark_sentence(std::size_t recorders) {
    return (recorders == 1 ? "a recording"
                           : "each of " + std::to_string(recorders) + " recordings") +
           " that runs now has no mark of this: its queue is full";
}

MarkSocket::MarkSocket()
    : descriptor_(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    sockaddr_un address;
    const socklen_t length = address_of(std::string(prefix) + std::to_string(getpid()), address);
    const int yes = 1;
    if (descriptor_ >= 0 &&
        (setsockopt(descriptor_, SOL_SOCKET, SO_PASSCRED, &yes, sizeof yes) ||
         bind(descriptor_, reinterpret_cast<const sockaddr *>(&address), length))) {
        close(descriptor_);
        descriptor_ = -1;
    }
}

MarkSocket::MarkSocket(const std::string &path)
    : descriptor_(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const int yes = 1;
    struct stat before {};
    bool can_bind = path.size() < sizeof address.sun_path;
    if (can_bind) {
        std::memcpy(address.sun_path, path.data(), path.size());
        if (lstat(path.c_str(), &before) == 0)
            can_bind = S_ISSOCK(before.st_mode) && unlink(path.c_str()) == 0;
    }
    constexpr mode_t all_may_write = 0666;
    if (descriptor_ < 0)
        return;
    if (can_bind && setsockopt(descriptor_, SOL_SOCKET, SO_PASSCRED, &yes, sizeof yes) == 0 &&
        bind(descriptor_, reinterpret_cast<const sockaddr *>(&address), sizeof address) == 0 &&
        chmod(path.c_str(), all_may_write) == 0) {
        path_ = path;
        return;
    }
    close(descriptor_);
    descriptor_ = -1;
}

MarkSocket::~MarkSocket() {
    if (!path_.empty())
        unlink(path_.c_str());
    if (descriptor_ >= 0)
        close(descriptor_);
}

std::vector<ReceivedMark> MarkSocket::take() {
    std::vector<ReceivedMark> all;
    for (std::size_t n = 0; n < most_at_once; n++) {
        std::array<char, 4096> text{};
        alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(ucred))> control{};
        iovec part{text.data(), text.size()};
        msghdr message{};
        message.msg_iov = &part;
        message.msg_iovlen = 1;
        message.msg_control = control.data();
        message.msg_controllen = control.size();
        const ssize_t length = descriptor_ < 0 ? -1 : recvmsg(descriptor_, &message, 0);
        if (length < 0)
            break;
        ucred sender{};
        for (cmsghdr *one = CMSG_FIRSTHDR(&message); one; one = CMSG_NXTHDR(&message, one))
            if (one->cmsg_level == SOL_SOCKET && one->cmsg_type == SCM_CREDENTIALS)
                std::memcpy(&sender, CMSG_DATA(one), sizeof sender);
        if (!sender.pid || (path_.empty() && sender.uid != 0 && sender.uid != getuid())) {
            refused_++;
            continue;
        }
        ReceivedMark mark{};
        std::istringstream words(std::string(text.data(), static_cast<std::size_t>(length)));
        if (!(words >> mark.monotonic_ns >> mark.gpu) || !std::getline(words >> std::ws, mark.text))
            continue;
        mark.pid = static_cast<std::uint32_t>(sender.pid);
        all.push_back(std::move(mark));
    }
    return all;
}

} // namespace nvdebug::base
