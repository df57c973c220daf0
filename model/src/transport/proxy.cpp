// SPDX-License-Identifier: MIT OR GPL-2.0
#include "transport/proxy.hpp"

#include "base/error.hpp"

#include <cstring>
#include <string>

namespace nvmodel {
namespace {

proxy::Command command_of(const proxy::Header &header) {
    return static_cast<proxy::Command>(header.command);
}

/// Returns the number of bytes that follow a header.
std::size_t body_size(const proxy::Header &header) {
    std::size_t size = 0;
    switch (command_of(header)) {
    case proxy::Command::sync_sysmem:
        size = sizeof(proxy::SyncSysmem);
        break;
    case proxy::Command::config_write:
    case proxy::Command::config_read:
        size = sizeof(proxy::ConfigAccess);
        break;
    case proxy::Command::bar_write:
    case proxy::Command::bar_read:
        size = sizeof(proxy::BarAccess);
        break;
    case proxy::Command::set_irqfd:
    case proxy::Command::device_reset:
        break;
    default:
        throw ProtocolError("unknown command " + std::to_string(header.command));
    }
    if (header.size != size)
        throw ProtocolError("command " + std::to_string(header.command) + " with " +
                            std::to_string(header.size) + " bytes");
    return size;
}

bool valid_size(std::uint32_t size, std::uint32_t max) {
    return size != 0 && size <= max && (size & (size - 1)) == 0;
}

} // namespace

Proxy::Proxy(PciFunction &function, UniqueFd socket)
    : function_(function), socket_(std::move(socket), proxy::max_fds) {
    function_.attach(&guest_);
}

Proxy::~Proxy() {
    function_.attach(nullptr);
}

bool Proxy::serve() {
    for (unsigned messages = 0; messages < max_messages; ++messages) {
        switch (reader_.next(body_size)) {
        case MessageSocket::Received::some:
            return true;
        case MessageSocket::Received::end:
            return false;
        case MessageSocket::Received::all:
            break;
        }
        if (!handle(socket_.take_fds()))
            return false;
        socket_.expect_more();
    }
    return true;
}

template <typename Message>
Message Proxy::body() const {
    Message message{};
    std::memcpy(&message, reader_.body().data(), sizeof(message));
    return message;
}

/// Returns false if QEMU has gone.
bool Proxy::handle(std::vector<UniqueFd> fds) {
    switch (command_of(reader_.header())) {
    case proxy::Command::sync_sysmem:
        sync_sysmem(std::move(fds));
        return true;
    case proxy::Command::config_write:
        return reply(access_config(true));
    case proxy::Command::config_read:
        return reply(access_config(false));
    case proxy::Command::bar_write:
        return reply(access_bar(true));
    case proxy::Command::bar_read:
        return reply(access_bar(false));
    case proxy::Command::set_irqfd:
        return true; // the model raises no interrupts
    case proxy::Command::device_reset:
        function_.reset();
        return reply(0);
    case proxy::Command::ret:
        break;
    }
    return true;
}

void Proxy::sync_sysmem(std::vector<UniqueFd> fds) {
    const auto message = body<proxy::SyncSysmem>();
    std::vector<MappedMemory::Region> regions;
    for (std::size_t i = 0; i < fds.size(); ++i)
        regions.push_back(
            {message.address[i], message.size[i], message.offset[i], std::move(fds[i])});
    guest_.replace(regions);
}

std::uint64_t Proxy::access_config(bool write) {
    const auto message = body<proxy::ConfigAccess>();
    const auto size = static_cast<std::uint32_t>(message.length);
    if (!valid_size(size, 4))
        throw ProtocolError("config access of " + std::to_string(message.length) + " bytes");
    if (!write)
        return function_.config_read(message.address, size);
    function_.config_write(message.address, message.value, size);
    return 0;
}

std::uint64_t Proxy::access_bar(bool write) {
    const auto message = body<proxy::BarAccess>();
    if (!valid_size(message.size, 8))
        throw ProtocolError("BAR access of " + std::to_string(message.size) + " bytes");
    if (message.memory == 0)
        return ~std::uint64_t{0}; // there are no I/O ports
    if (!write)
        return function_.memory_read(message.address, message.size);
    function_.memory_write(message.address, message.value, message.size);
    return 0;
}

bool Proxy::reply(std::uint64_t value) {
    const proxy::Reply message{
        {static_cast<std::int32_t>(proxy::Command::ret), 0, sizeof(message.value)}, value};
    return socket_.send(std::as_bytes(std::span(&message, 1)));
}

} // namespace nvmodel
