// SPDX-License-Identifier: MIT OR GPL-2.0
#include "transport/proxy.hpp"

#include "base/error.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace nvmodel {
namespace {

using proxy::Command;

Command command_of(const proxy::Header &header) {
    return static_cast<Command>(header.command);
}

/// Taken at one go, so that others of the event loop have their turn.
constexpr unsigned max_messages = 64;

/// A guest's next access often follows at once, and waking up again costs more than looking for it.
constexpr std::chrono::microseconds spin{50};

bool valid_size(std::uint32_t size, std::uint32_t max) {
    return size != 0 && size <= max && (size & (size - 1)) == 0;
}

} // namespace

Proxy::Proxy(Gpu &gpu, UniqueFd socket) : gpu_(gpu), socket_(std::move(socket)) {
    gpu_.attach(&guest_);
}

Proxy::~Proxy() {
    gpu_.attach(nullptr);
}

/// Messages are read piece by piece, each to its exact length: descriptors are delivered with the
/// bytes they were sent with, and so stay with their message.
bool Proxy::serve() {
    for (unsigned messages = 0; messages < max_messages; ++messages) {
        const auto header = std::as_writable_bytes(std::span(&header_, 1));
        if (have_header_ < header.size()) {
            switch (receive(header, have_header_)) {
            case Received::some:
                return true;
            case Received::end:
                if (have_header_ != 0)
                    throw ProtocolError("QEMU closed the socket inside a message");
                return false;
            case Received::all:
                break;
            }
            if (header_.size != expected_size())
                throw ProtocolError("command " + std::to_string(header_.command) + " with " +
                                    std::to_string(header_.size) + " bytes");
        }
        const auto body = std::span(body_).first(static_cast<std::size_t>(header_.size));
        if (have_body_ < body.size()) {
            switch (receive(body, have_body_)) {
            case Received::some:
                return true;
            case Received::end:
                throw ProtocolError("QEMU closed the socket inside a message");
            case Received::all:
                break;
            }
        }
        const bool goes_on = handle();
        awake_until_ = std::chrono::steady_clock::now() + spin;
        have_header_ = 0;
        have_body_ = 0;
        fds_.clear();
        if (!goes_on)
            return false;
    }
    return true;
}

Proxy::Received Proxy::receive(std::span<std::byte> to, std::size_t &have) {
    while (have < to.size()) {
        iovec vector{to.data() + have, to.size() - have};
        alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(sizeof(int) * proxy::max_fds)> control{};
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
        if ((message.msg_flags & MSG_CTRUNC) != 0 || fds_.size() > proxy::max_fds)
            throw ProtocolError("more descriptors than a message may have");
        if (got == 0)
            return Received::end;
        have += static_cast<std::size_t>(got);
    }
    return Received::all;
}

/// Bytes that the message's command has.
std::size_t Proxy::expected_size() const {
    switch (command_of(header_)) {
    case Command::sync_sysmem:
        return sizeof(proxy::SyncSysmem);
    case Command::config_write:
    case Command::config_read:
        return sizeof(proxy::ConfigAccess);
    case Command::bar_write:
    case Command::bar_read:
        return sizeof(proxy::BarAccess);
    case Command::set_irqfd:
    case Command::device_reset:
        return 0;
    case Command::ret:
        break;
    }
    throw ProtocolError("unknown command " + std::to_string(header_.command));
}

template <typename Message>
Message Proxy::body() const {
    Message message{};
    std::memcpy(&message, body_.data(), sizeof(message));
    return message;
}

/// False if QEMU has gone.
bool Proxy::handle() {
    switch (command_of(header_)) {
    case Command::sync_sysmem:
        sync_sysmem();
        return true;
    case Command::config_write:
        return reply(access_config(true));
    case Command::config_read:
        return reply(access_config(false));
    case Command::bar_write:
        return reply(access_bar(true));
    case Command::bar_read:
        return reply(access_bar(false));
    case Command::set_irqfd:
        return true; // the model raises no interrupts
    case Command::device_reset:
        gpu_.reset();
        return reply(0);
    case Command::ret:
        break;
    }
    return true;
}

void Proxy::sync_sysmem() {
    const auto message = body<proxy::SyncSysmem>();
    std::vector<MappedMemory::Region> regions;
    for (std::size_t i = 0; i < fds_.size(); ++i)
        regions.push_back(
            {message.address[i], message.size[i], message.offset[i], std::move(fds_[i])});
    guest_.replace(regions);
}

std::uint64_t Proxy::access_config(bool write) {
    const auto message = body<proxy::ConfigAccess>();
    const auto size = static_cast<std::uint32_t>(message.length);
    if (!valid_size(size, 4))
        throw ProtocolError("config access of " + std::to_string(message.length) + " bytes");
    if (!write)
        return gpu_.config_read(message.address, size);
    gpu_.config_write(message.address, message.value, size);
    return 0;
}

std::uint64_t Proxy::access_bar(bool write) {
    const auto message = body<proxy::BarAccess>();
    if (!valid_size(message.size, 8))
        throw ProtocolError("BAR access of " + std::to_string(message.size) + " bytes");
    if (message.memory == 0)
        return ~std::uint64_t{0}; // there are no I/O ports
    if (!write)
        return gpu_.memory_read(message.address, message.size);
    gpu_.memory_write(message.address, message.value, message.size);
    return 0;
}

bool Proxy::reply(std::uint64_t value) {
    const proxy::Reply message{{static_cast<std::int32_t>(Command::ret), 0, sizeof(message.value)},
                               value};
    auto left = std::as_bytes(std::span(&message, 1));
    while (!left.empty()) {
        const ssize_t sent = ::send(fd(), left.data(), left.size(), MSG_NOSIGNAL);
        if (sent < 0) {
            if (errno == EINTR)
                continue;
            if (errno == EPIPE || errno == ECONNRESET)
                return false;
            throw ProtocolError("replying to QEMU: " + std::string(std::strerror(errno)));
        }
        left = left.subspan(static_cast<std::size_t>(sent));
    }
    return true;
}

} // namespace nvmodel
