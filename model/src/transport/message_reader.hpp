// SPDX-License-Identifier: MIT OR GPL-2.0
// Reads messages, with a header and a body, from a stream. The size of the body follows from the
// header.
#pragma once

#include "base/error.hpp"
#include "transport/message_socket.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace nvmodel {

template <typename Header>
class MessageReader {
  public:
    explicit MessageReader(MessageSocket &socket) : socket_(socket) {}

    /// Continues with the message that is being received, or begins the next one. `body_size`
    /// returns how many bytes follow a header, and throws ProtocolError for a header that makes no
    /// sense. Returns `end` if the stream ends between two messages; ProtocolError is thrown for an
    /// end inside a message.
    template <typename BodySize>
    MessageSocket::Received next(BodySize body_size) {
        using Received = MessageSocket::Received;
        if (complete_) {
            complete_ = false;
            have_header_ = have_body_ = 0;
        }
        const auto header_bytes = std::as_writable_bytes(std::span(&header_, 1));
        if (have_header_ < header_bytes.size()) {
            const Received got = socket_.receive(header_bytes, have_header_);
            if (got == Received::end && have_header_ != 0)
                throw ProtocolError("QEMU closed the socket inside a message");
            if (got != Received::all)
                return got;
            body_.resize(body_size(header_));
        }
        const Received got = socket_.receive(body_, have_body_);
        if (got == Received::end)
            throw ProtocolError("QEMU closed the socket inside a message");
        complete_ = got == Received::all;
        return got;
    }

    /// The parts of the complete message.
    [[nodiscard]] const Header &header() const { return header_; }
    [[nodiscard]] std::span<const std::byte> body() const { return body_; }

  private:
    MessageSocket &socket_;
    Header header_{};
    std::size_t have_header_ = 0;
    std::vector<std::byte> body_;
    std::size_t have_body_ = 0;
    bool complete_ = false;
};

} // namespace nvmodel
