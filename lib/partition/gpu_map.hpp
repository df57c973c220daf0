// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The TPCs of a GPU, as the probe found them: which bit of a mask is which TPC, and what SMs
/// it has. Kept in a file for each GPU and driver.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "outcome.hpp"
#include "state.hpp"

namespace nvtaskset {

struct Tpc {
    std::uint32_t bit;
    std::vector<std::uint32_t> sms; ///< by %smid, where no MPS server is between
    std::uint32_t gpc;              ///< as nvdebug's gpc files count: logical
    /// Where clusters can be: TPCs of one GPC that has the driver's virtual number.
    std::uint32_t cluster_group;
    bool operator==(const Tpc &) const = default;
};

/// A TPC's number is its place here: by GPC, then by bit.
struct GpuMap {
    Uuid uuid{};
    std::string driver; ///< as driver_version()
    std::vector<Tpc> tpcs;
    bool operator==(const GpuMap &) const = default;
};

[[nodiscard]] std::string map_text(const GpuMap &map);
/// nullopt: it is no such text, or one that contradicts itself.
[[nodiscard]] std::optional<GpuMap> parse_map(std::string_view text);

/// Bits of all TPCs.
Bits exists(const GpuMap &map);
/// GPCs in rising order.
[[nodiscard]] std::vector<std::uint32_t> gpcs(const GpuMap &map);

/// `0-3,7`, numbers below @p limit, in any order. @p what: `TPC`, for the sentence.
[[nodiscard]] Outcome<std::vector<std::uint32_t>>
parse_list(std::string_view text, const std::string &what, std::uint32_t limit);
/// The shortest way to write rising numbers: `0-3,7`.
[[nodiscard]] std::string list_text(const std::vector<std::uint32_t> &numbers);

/// TPCs of the GPCs.
[[nodiscard]] Outcome<std::vector<std::uint32_t>>
tpcs_of_gpcs(const GpuMap &map, const std::vector<std::uint32_t> &gpcs);

/// Of which GPCs TPCs are chosen.
enum class Placement {
    packed, ///< whole GPCs first, then as few more as possible
    spread, ///< four of each (8 SMs, what any cluster fits on), then four more
};

/// @p count TPCs of those that are not in @p taken.
[[nodiscard]] Outcome<std::vector<std::uint32_t>> choose(const GpuMap &map, std::size_t count,
                                                         const std::vector<std::uint32_t> &taken,
                                                         Placement placement = Placement::packed);

/// @p tpcs are of the map, at least one.
Partition partition_of(const GpuMap &map, const std::vector<std::uint32_t> &tpcs);
/// The other way; TPCs that the map does not have are left out.
[[nodiscard]] std::vector<std::uint32_t> tpcs_of(const GpuMap &map, const Partition &partition);

} // namespace nvtaskset
