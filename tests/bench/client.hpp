// SPDX-License-Identifier: MIT OR GPL-2.0
// The VMM's side of a transport, with the GPU served in a thread of its own, as by a process.
#pragma once

#include "device/gpu.hpp"
#include "transport/transport.hpp"
#include "transport/unique_fd.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <thread>

namespace nvmodel::bench {

class Client {
  public:
    virtual ~Client() = default;
    /// Returns a word of BAR0.
    virtual std::uint32_t read(std::uint32_t offset) = 0;
};

/// Returns a client that uses QEMU's proxy. `gpu` has to outlive the client.
std::unique_ptr<Client> proxy_client(Gpu &gpu);
/// Returns a client that uses vfio-user.
std::unique_ptr<Client> vfio_user_client(Gpu &gpu);

/// Serves until the client closes its end.
class Server {
  public:
    explicit Server(std::unique_ptr<Transport> transport);

  private:
    std::jthread thread_;
};

/// Send and receive all bytes of a message. They throw std::system_error.
void send_all(const UniqueFd &socket, std::span<const std::byte> message);
void receive_all(const UniqueFd &socket, std::span<std::byte> message);

template <typename Message>
void send(const UniqueFd &socket, const Message &message) {
    send_all(socket, std::as_bytes(std::span(&message, 1)));
}

template <typename Message>
Message receive(const UniqueFd &socket) {
    Message message{};
    receive_all(socket, std::as_writable_bytes(std::span(&message, 1)));
    return message;
}

} // namespace nvmodel::bench
