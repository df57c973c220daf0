// SPDX-License-Identifier: MIT OR GPL-2.0
#pragma once

#include "board/board.hpp"
#include "device/chip.hpp"
#include "host/group.hpp"

#include <cstdint>
#include <memory>

namespace nvmodel {

/// Programs channels and runlists as a driver of a generation does.
class DriverPort {
  public:
    virtual ~DriverPort() = default;

    /// Opens the gates between doorbells and Host.
    virtual void open_doorbells() = 0;
    /// Gives a channel its instance block, if a register does that.
    virtual void bind(unsigned runlist, unsigned channel, PhysicalAddress instance) = 0;
    virtual void set_enabled(unsigned runlist, unsigned channel, bool enabled) = 0;
    virtual void submit(unsigned runlist, PhysicalAddress base, unsigned entries) = 0;
    /// Announces work.
    virtual void ring(unsigned runlist, unsigned channel) = 0;

    static std::unique_ptr<DriverPort> make(const Board &board, Chip &chip);
};

/// Writes a register that has to exist.
void driver_write(Chip &chip, std::uint32_t offset, std::uint32_t value);

} // namespace nvmodel
