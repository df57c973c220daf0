// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file
/// @brief `contexts`: which address spaces and channels share which TSG.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "nvdebug/memory.hpp"

namespace nvdebug {

/// A line of `contexts`: one address space of a TSG, as one subcontext uses it. A runlist that
/// cannot be read has one line, with an error and without TSG and channels.
struct AddressSpaceUse {
    std::uint32_t runlist;
    std::optional<std::uint32_t> tsg; ///< empty: a bare channel, or the whole runlist
    bool shared;          ///< more than one address space of the TSG could be read (MPS)
    std::uint32_t spaces; ///< how many address spaces of the TSG could be read
    Place page_directory;
    std::optional<std::uint32_t> veid; ///< empty before Volta
    std::vector<std::uint32_t> channels;
    std::optional<std::string> error; ///< why these channels' address space is unknown
};

} // namespace nvdebug
