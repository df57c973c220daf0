// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Runlists → LCEs → PCEs, as the pictures of `copy show` draw them, and `check` and `engine`
/// need them.
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
    /// `GRCE0`: it is on the runlist of a graphics engine. Empty: it is not.
    std::string graphics_name;
    std::vector<std::uint32_t> pces;     ///< its own
    std::vector<std::uint32_t> borrowed; ///< those of `lender`
    std::optional<std::string> lender;
};

struct WiredRunlist {
    std::optional<std::uint32_t> id;        ///< empty: Host does not drive these LCEs
    std::vector<std::string> other_engines; ///< that are no LCEs
    std::vector<WiredLce> lces;
};

struct WiredPce {
    std::uint32_t pce;
    std::vector<std::string> contenders; ///< LCEs with copies that contend; none: no contention
};

struct CopyWiring {
    std::vector<WiredRunlist> runlists; ///< with LCEs, in the order of `device_info`
    std::vector<WiredPce> pces;         ///< by rising number
    std::vector<std::uint32_t> unused;  ///< PCEs that serve no LCE
};

[[nodiscard]] CopyWiring make_wiring(const nvdebug::CopyTopology &copy,
                                     std::span<const nvdebug::Engine> engines);

/// Bits as numbers, rising.
[[nodiscard]] std::vector<std::uint32_t> bits_of(std::uint32_t mask);

} // namespace nvdebugctl
