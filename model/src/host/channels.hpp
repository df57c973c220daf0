// SPDX-License-Identifier: MIT OR GPL-2.0
// All channels that the hardware has, of which next to none are ever used.
#pragma once

#include "host/channel.hpp"

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

namespace nvmodel {

/// An array whose elements take memory once they are accessed through a reference that can change
/// them; until then they are as a Channel is made.
class Channels {
  public:
    explicit Channels(std::size_t count) : chunks_((count + CHUNK - 1) / CHUNK) {}

    [[nodiscard]] const Channel &operator[](std::size_t index) const {
        const auto &chunk = chunks_[index / CHUNK];
        return chunk ? (*chunk)[index % CHUNK] : UNUSED;
    }

    [[nodiscard]] Channel &operator[](std::size_t index) {
        auto &chunk = chunks_[index / CHUNK];
        if (!chunk)
            chunk = std::make_unique<Chunk>();
        return (*chunk)[index % CHUNK];
    }

  private:
    static constexpr std::size_t CHUNK = 64;
    using Chunk = std::array<Channel, CHUNK>;
    static inline const Channel UNUSED;

    std::vector<std::unique_ptr<Chunk>> chunks_;
};

} // namespace nvmodel
