// SPDX-License-Identifier: MIT OR GPL-2.0
#include "client.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace nvmodel::bench {
namespace {

std::size_t moved(ssize_t bytes) {
    if (bytes <= 0)
        throw std::system_error(bytes == 0 ? ECONNRESET : errno, std::generic_category(), "socket");
    return static_cast<std::size_t>(bytes);
}

void serve(Transport &transport) {
    do {
        pollfd waiting{transport.fd(), POLLIN, 0};
        ::poll(&waiting, 1, -1);
    } while (transport.serve());
}

} // namespace

Server::Server(std::unique_ptr<Transport> transport)
    : thread_([transport = std::move(transport)] { serve(*transport); }) {}

void send_all(const UniqueFd &socket, std::span<const std::byte> message) {
    while (!message.empty())
        message = message.subspan(
            moved(::send(socket.get(), message.data(), message.size(), MSG_NOSIGNAL)));
}

void receive_all(const UniqueFd &socket, std::span<std::byte> message) {
    while (!message.empty())
        message = message.subspan(moved(::recv(socket.get(), message.data(), message.size(), 0)));
}

} // namespace nvmodel::bench
