// SPDX-License-Identifier: MIT OR GPL-2.0
// Requests to `translate`, and the answers to expect by the model's own MMU.
#pragma once

#include "bench.hpp"

#include <cstdint>
#include <span>
#include <string>

namespace core {

/// The longest walk: eight 64-bit entries, one of them dual.
constexpr std::uint64_t words_per_walk = 18;

/// An address space of a layout.
class Space {
  public:
    Space(Bench &bench, const Json &layout, const Json &space);

    [[nodiscard]] const Json &directory() const { return directory_; }
    [[nodiscard]] unsigned version() const { return version_; }
    /// A request to `translate`, with what it cannot know from a page directory alone.
    [[nodiscard]] std::string request(std::uint64_t va) const;
    /// `translate` and the model's MMU must agree.
    void expect_agreement(std::uint64_t va);
    /// The whole page directory, of these words.
    void fill_with(std::span<const std::uint32_t> words);

  private:
    Bench &bench_;
    Json directory_;
    unsigned version_ = 0;
    unsigned big_page_kib_ = 0;
};

/// Those of a layout.
[[nodiscard]] std::vector<Space> spaces(Bench &bench, const Json &layout);

} // namespace core
