// SPDX-License-Identifier: MIT OR GPL-2.0
// All channels of the hardware, very few of which are ever used.
#pragma once

#include "host/channel.hpp"

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

namespace nvmodel {

/// An array whose elements take memory once they are accessed through a reference that can change
/// them. Until then they are like a new Channel.
class Channels {
  public:
    explicit Channels(std::size_t count) : chunks_((count + chunk_size - 1) / chunk_size) {}

    [[nodiscard]] const Channel &operator[](std::size_t index) const {
        const auto &chunk = chunks_[index / chunk_size];
        return chunk ? (*chunk)[index % chunk_size] : unused;
    }

    [[nodiscard]] Channel &operator[](std::size_t index) {
        auto &chunk = chunks_[index / chunk_size];
        if (!chunk)
            chunk = std::make_unique<Chunk>();
        return (*chunk)[index % chunk_size];
    }

  private:
    static constexpr std::size_t chunk_size = 64;
    using Chunk = std::array<Channel, chunk_size>;
    static inline const Channel unused;

    std::vector<std::unique_ptr<Chunk>> chunks_;
};

} // namespace nvmodel
