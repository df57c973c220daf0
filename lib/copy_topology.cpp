// SPDX-License-Identifier: MIT OR GPL-2.0
#include "gpu_file.hpp"
#include "nvdebug/parse.hpp"

#include <limits>

namespace nvdebug {

Result<CopyTopology> Gpu::copy_topology() const {
    auto lces = parse_file(*this, "copy_topology", parse_copy_topology);
    if (!lces)
        return tl::unexpected(std::move(lces).error());
    const auto pces = parse_file(*this, "pce_map", parse_number);
    if (!pces)
        return tl::unexpected(pces.error());
    if (*pces > std::numeric_limits<std::uint32_t>::max())
        return tl::unexpected(
            in_file(*this, "pce_map", {ErrorCode::malformed, 0, "", "line 1: more than 32 PCEs"}));
    return CopyTopology{static_cast<std::uint32_t>(*pces), std::move(*lces)};
}

} // namespace nvdebug
