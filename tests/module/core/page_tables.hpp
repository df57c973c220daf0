// SPDX-License-Identifier: MIT OR GPL-2.0
// Requests to `translate`. Their answers are compared with the answers of the model's own MMU.
#pragma once

#include "bench.hpp"

#include <cstdint>
#include <span>
#include <string>

namespace core {

/// The words of the longest walk: eight 64-bit entries, one of them dual.
constexpr std::uint64_t words_per_walk = 18;

/// An address space of a layout.
class Space {
  public:
    Space(Bench &bench, const Json &layout, const Json &space);

    [[nodiscard]] const Json &directory() const { return directory_; }
    [[nodiscard]] unsigned version() const { return version_; }
    /// Returns a request to `translate`, with the facts that a page directory alone does not show.
    [[nodiscard]] std::string request(std::uint64_t va) const;
    /// Checks that `translate` and the model's MMU agree.
    void expect_agreement(std::uint64_t va);
    /// Fills the whole page directory with these words, again and again.
    void fill_with(std::span<const std::uint32_t> words);

  private:
    Bench &bench_;
    Json directory_;
    unsigned version_ = 0;
    unsigned big_page_kib_ = 0;
};

/// Returns the address spaces of a layout.
[[nodiscard]] std::vector<Space> spaces(Bench &bench, const Json &layout);

} // namespace core
