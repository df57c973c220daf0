// SPDX-License-Identifier: MIT OR GPL-2.0
#pragma once

namespace nvmodel {

/// A way by which a VMM reaches the GPU.
class Transport {
  public:
    virtual ~Transport() = default;

    /// The descriptor to wait for; it changes only in serve().
    [[nodiscard]] virtual int fd() const = 0;

    /// Takes and answers messages that have arrived, without waiting for more. It stops after a
    /// bounded number, so call it again while fd() is readable. Returns false once the VMM has
    /// gone. Throws ProtocolError.
    virtual bool serve() = 0;

  protected:
    /// The most messages of one serve(), so that others of the event loop have their turn.
    static constexpr unsigned max_messages = 64;
};

} // namespace nvmodel
