// SPDX-License-Identifier: MIT OR GPL-2.0
// A stream socket that carries messages and file descriptors.
#pragma once

#include "transport/unique_fd.hpp"

#include <chrono>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace nvmodel {

class MessageSocket {
  public:
    enum class Received { all, some, end };

    MessageSocket(UniqueFd socket, std::size_t max_fds);

    [[nodiscard]] int fd() const { return socket_.get(); }

    /// Fills `to` from `have` on, which it moves along, without waiting for more. Descriptors are
    /// delivered with the bytes that they were sent with. So they stay with their message if each
    /// piece of a message is asked for by its exact length. Throws ProtocolError if the socket
    /// fails, and for more descriptors than may come.
    Received receive(std::span<std::byte> to, std::size_t &have);

    /// The descriptors that came since the last call.
    std::vector<UniqueFd> take_fds() { return std::exchange(fds_, {}); }

    /// Expects another message soon: the socket is looked at for a while before sleeping, if there
    /// is a processor for that beside the sender's.
    void expect_more();

    /// Sends the whole message. Returns false if the other end is closed. Throws ProtocolError.
    bool send(std::span<const std::byte> message);

  private:
    UniqueFd socket_;
    std::size_t max_fds_;
    std::vector<UniqueFd> fds_;
    std::chrono::microseconds spin_;
    std::chrono::steady_clock::time_point awake_until_;
};

} // namespace nvmodel
