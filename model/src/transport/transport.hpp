// SPDX-License-Identifier: MIT OR GPL-2.0
#pragma once

namespace nvmodel {

/// One of the ways by which a VMM reaches the GPU.
class Transport {
  public:
    virtual ~Transport() = default;

    /// What to wait for; changes only in serve().
    [[nodiscard]] virtual int fd() const = 0;

    /// Takes and answers what has arrived, without waiting for more, and not without end: call
    /// again while fd() is readable. False once the VMM has gone.
    /// Throws ProtocolError.
    virtual bool serve() = 0;

  protected:
    /// Taken at one go, so that others of the event loop have their turn.
    static constexpr unsigned max_messages = 64;
};

} // namespace nvmodel
