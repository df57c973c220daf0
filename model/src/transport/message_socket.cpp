// SPDX-License-Identifier: MIT OR GPL-2.0
#include "transport/message_socket.hpp"

#include "base/error.hpp"

#include <sched.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>

namespace nvmodel {
namespace {

/// Returns for how long to look for the next message before sleeping. A guest's next access often
/// follows at once, and waking up costs more than looking for it. With a single processor QEMU
/// needs that to make the access, so the time is 0.
std::chrono::microseconds spin() {
    cpu_set_t allowed;
    const bool alone =
        ::sched_getaffinity(0, sizeof(allowed), &allowed) == 0 && CPU_COUNT(&allowed) == 1;
    return std::chrono::microseconds(alone ? 0 : 50);
}

/// The most descriptors that one recvmsg() has room for.
constexpr std::size_t control_fds = 16;

} // namespace

MessageSocket::Received MessageSocket::receive(std::span<std::byte> to, std::size_t &have) {
    while (have < to.size()) {
        iovec vector{to.data() + have, to.size() - have};
        alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(sizeof(int) * control_fds)> control{};
        msghdr message{};
        message.msg_iov = &vector;
        message.msg_iovlen = 1;
        message.msg_control = control.data();
        message.msg_controllen = control.size();
        const ssize_t got = ::recvmsg(fd(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
        if (got < 0) {
            if (errno == EINTR)
                continue;
            if (errno == EAGAIN || errno == EWOULDBLOCK) {
                if (std::chrono::steady_clock::now() < awake_until_)
                    continue;
                return Received::some;
            }
            if (errno == ECONNRESET)
                return Received::end;
            throw ProtocolError("receiving from QEMU: " + std::string(std::strerror(errno)));
        }
        for (cmsghdr *part = CMSG_FIRSTHDR(&message); part != nullptr;
             part = CMSG_NXTHDR(&message, part)) {
            if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS)
                continue;
            const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
            for (std::size_t i = 0; i < count; ++i) {
                int fd = -1;
                std::memcpy(&fd, CMSG_DATA(part) + i * sizeof(int), sizeof(int));
                fds_.emplace_back(fd);
            }
        }
        if ((message.msg_flags & MSG_CTRUNC) != 0 || fds_.size() > max_fds_)
            throw ProtocolError("more descriptors than a message may have");
        if (got == 0)
            return Received::end;
        have += static_cast<std::size_t>(got);
    }
    return Received::all;
}

MessageSocket::MessageSocket(UniqueFd socket, std::size_t max_fds)
    : socket_(std::move(socket)), max_fds_(max_fds), spin_(spin()) {}

void MessageSocket::expect_more() {
    awake_until_ = std::chrono::steady_clock::now() + spin_;
}

bool MessageSocket::send(std::span<const std::byte> message) {
    while (!message.empty()) {
        const ssize_t sent = ::send(fd(), message.data(), message.size(), MSG_NOSIGNAL);
        if (sent < 0) {
            if (errno == EINTR)
                continue;
            if (errno == EPIPE || errno == ECONNRESET)
                return false;
            throw ProtocolError("replying to QEMU: " + std::string(std::strerror(errno)));
        }
        message = message.subspan(static_cast<std::size_t>(sent));
    }
    return true;
}

} // namespace nvmodel
