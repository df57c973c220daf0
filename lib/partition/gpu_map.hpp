// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The TPCs of a GPU as the probe finds them: their bits in a mask, and their SMs. A file
/// keeps them for each GPU and driver.
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
    std::vector<std::uint32_t> sms; ///< their %smid without an MPS server
    std::uint32_t gpc;              ///< logical number, as in nvdebug's gpc files
    /// The virtual number of the GPC in the driver. A cluster fits into TPCs of the same number.
    std::uint32_t cluster_group;
    bool operator==(const Tpc &) const = default;
};

/// The TPCs of a GPU, by GPC and then by bit. A TPC's number is its index in `tpcs`.
struct GpuMap {
    Uuid uuid{};
    std::string driver; ///< the driver_version() of the probe
    std::vector<Tpc> tpcs;
    bool operator==(const GpuMap &) const = default;
};

/// Returns the text of a map's file.
[[nodiscard]] std::string map_text(const GpuMap &map);
/// Parses the text of a map's file. Returns nullopt if it is malformed or contradicts itself.
[[nodiscard]] std::optional<GpuMap> parse_map(std::string_view text);

/// Returns a mask with the bits of all TPCs.
Bits exists(const GpuMap &map);
/// Returns the numbers of the GPCs in rising order.
[[nodiscard]] std::vector<std::uint32_t> gpcs(const GpuMap &map);

/// The limit of a list's numbers if the GPU is not known: a mask has so many bits.
inline constexpr std::uint32_t any_gpu = 32 * std::tuple_size_v<Bits>;

/// Parses a list as `0-3,7`, in any order.
/// @param what `TPC` or `GPC`, for the error's sentence
/// @param limit all numbers are below it
[[nodiscard]] Outcome<std::vector<std::uint32_t>>
parse_list(std::string_view text, const std::string &what, std::uint32_t limit);
/// Returns rising numbers as a list: `0-3,7`.
[[nodiscard]] std::string list_text(const std::vector<std::uint32_t> &numbers);

/// Returns the numbers of the TPCs of the GPCs. Fails if a GPC is not in the map.
[[nodiscard]] Outcome<std::vector<std::uint32_t>>
tpcs_of_gpcs(const GpuMap &map, const std::vector<std::uint32_t> &gpcs);

/// The order in which choose() takes the TPCs of GPCs.
enum class Placement {
    packed, ///< whole GPCs first, then the smallest GPC that has enough
    spread, ///< four TPCs of each GPC (8 SMs, on which any portable cluster fits), then four more
};

/// Chooses @p count TPCs that are not in @p taken. Fails if there are not enough.
[[nodiscard]] Outcome<std::vector<std::uint32_t>> choose(const GpuMap &map, std::size_t count,
                                                         const std::vector<std::uint32_t> &taken,
                                                         Placement placement = Placement::packed);

/// Returns the partition of the TPCs, of which there is at least one.
Partition partition_of(const GpuMap &map, const std::vector<std::uint32_t> &tpcs);
/// Returns the TPCs of the partition. Bits without a TPC in the map are ignored.
[[nodiscard]] std::vector<std::uint32_t> tpcs_of(const GpuMap &map, const Partition &partition);

} // namespace nvtaskset
