// SPDX-License-Identifier: MIT OR GPL-2.0
// A GPU to which others write at the same time, or that loses writes.
#pragma once

#include "model.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace core {

class Meddled final : public Model {
  public:
    using Model::Model;

    /// Called at each read of a register. If it returns a value, that value is read in place of the
    /// register's.
    std::function<std::optional<u32>(u32 offset)> on_read;
    /// Called at each write to a register. Returns true if the write is lost.
    std::function<bool(u32 offset, u32 value)> on_write;
    /// Called in the same way at each read and write of a word of memory.
    std::function<std::optional<u32>(u64 address)> on_memory_read;
    std::function<bool(u64 address, u32 value)> on_memory_write;
    /// All writes to registers in their order, including the lost ones.
    std::vector<std::pair<u32, u32>> written;
    /// Returns how often a register was written.
    [[nodiscard]] auto writes(u32 offset) const {
        return std::ranges::count(written, offset, &std::pair<u32, u32>::first);
    }

    [[nodiscard]] std::uint32_t register_read(std::uint32_t offset) override {
        const auto other = on_read ? on_read(offset) : std::nullopt;
        return other ? *other : Model::register_read(offset);
    }
    void register_write(std::uint32_t offset, std::uint32_t value) override {
        written.emplace_back(offset, value);
        if (!on_write || !on_write(offset, value))
            Model::register_write(offset, value);
    }
    std::optional<std::uint32_t> memory_read(std::uint8_t aperture,
                                             std::uint64_t address) override {
        const auto other = on_memory_read ? on_memory_read(address) : std::nullopt;
        return other ? other : Model::memory_read(aperture, address);
    }
    bool memory_write(std::uint8_t aperture, std::uint64_t address, std::uint32_t value) override {
        return (on_memory_write && on_memory_write(address, value)) ||
               Model::memory_write(aperture, address, value);
    }
    /// Access registers past the callbacks, as a driver may do.
    [[nodiscard]] u32 peek(u32 offset) { return Model::register_read(offset); }
    void poke(u32 offset, u32 value) { Model::register_write(offset, value); }

    /// Calls `act` with the GPU in use and its lock held, as functions of host/ need it.
    template <typename Act>
    auto locked(Act act) {
        EXPECT_EQ(begin(false), 0);
        gpu()->lock.held = true;
        const auto result = act();
        gpu()->lock.held = false;
        end();
        return result;
    }
};

} // namespace core
