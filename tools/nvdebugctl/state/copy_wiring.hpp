// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Connects runlists with LCEs and LCEs with PCEs, for the pictures of `copy show`, for
/// `check` and for `engine`.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "nvdebug/copy.hpp"
#include "nvdebug/engine.hpp"

namespace nvdebugctl {

struct WiredLce {
    std::string name; ///< `LCE2`
    /// `GRCE0` if the LCE is on the runlist of a graphics engine; else empty.
    std::string graphics_name;
    std::vector<std::uint32_t> pces;     ///< the LCE's own PCEs
    std::vector<std::uint32_t> borrowed; ///< PCEs of `lender` that it uses
    std::optional<std::string> lender;
};

struct WiredRunlist {
    std::optional<std::uint32_t> id;        ///< empty: Host does not drive these LCEs
    std::vector<std::string> other_engines; ///< engines that are not LCEs
    std::vector<WiredLce> lces;
};

struct WiredPce {
    std::uint32_t pce;
    /// LCEs whose copies contend for the PCE; empty: no contention.
    std::vector<std::string> contenders;
};

struct CopyWiring {
    std::vector<WiredRunlist> runlists; ///< runlists with LCEs, in the order of `device_info`
    std::vector<WiredPce> pces;         ///< by rising number
    std::vector<std::uint32_t> unused;  ///< PCEs that serve no LCE
};

[[nodiscard]] CopyWiring make_wiring(const nvdebug::CopyTopology &copy,
                                     std::span<const nvdebug::Engine> engines);

/// Returns the numbers of the bits that are set, rising.
[[nodiscard]] std::vector<std::uint32_t> bits_of(std::uint32_t mask);

} // namespace nvdebugctl
