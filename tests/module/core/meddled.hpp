// SPDX-License-Identifier: MIT OR GPL-2.0
// A GPU that others write to at the same time, or that does not do what is written to it.
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

    /// Asked at each read of a register: what is read in place of its value, if something is.
    std::function<std::optional<u32>(u32 offset)> on_read;
    /// Asked at each write to a register: is it lost?
    std::function<bool(u32 offset, u32 value)> on_write;
    /// The same for a word of memory.
    std::function<std::optional<u32>(u64 address)> on_memory_read;
    std::function<bool(u64 address, u32 value)> on_memory_write;
    /// What was written to registers, lost or not, in this order.
    std::vector<std::pair<u32, u32>> written;
    /// How often a register was written.
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
    /// Accesses that are not the core's.
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
