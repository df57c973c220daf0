// SPDX-License-Identifier: MIT OR GPL-2.0
#pragma once

#include "base/bits.hpp"
#include "base/error.hpp"
#include "memory/aperture.hpp"

#include <string>

namespace nvmodel {

/// Hands out pieces of a range of memory, upwards; they are never taken back.
class Allocator {
  public:
    Allocator(Aperture aperture, std::uint64_t begin, std::uint64_t end)
        : aperture_(aperture), next_(begin), end_(end) {}

    /// Throws ConfigError if the range is used up.
    PhysicalAddress take(std::uint64_t size, std::uint64_t alignment) {
        const std::uint64_t at = align_up(next_, alignment);
        if (at > end_ || size > end_ - at)
            throw ConfigError("the workload needs more " +
                              std::string(aperture_ == Aperture::video ? "video" : "system") +
                              " memory than there is for it");
        next_ = at + size;
        return {aperture_, at};
    }

    [[nodiscard]] std::uint64_t next() const { return next_; }

  private:
    Aperture aperture_;
    std::uint64_t next_;
    std::uint64_t end_;
};

} // namespace nvmodel
