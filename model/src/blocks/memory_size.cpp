// SPDX-License-Identifier: MIT OR GPL-2.0
#include "blocks/memory_size.hpp"

#include "base/error.hpp"
#include "blocks/constants.hpp"
#include "regs/pfb.hpp"

namespace nvmodel {
namespace {

using namespace regs;

/// Encodes a size with the largest magnitude that fits its field.
std::uint32_t memory_range(std::uint64_t bytes, Field mag_field) {
    std::uint64_t mag = bytes >> 20;
    std::uint32_t scale = 0;
    while (mag > mag_field.max() && mag % 2 == 0 && scale < pfb::lower_scale.max()) {
        mag /= 2;
        ++scale;
    }
    if (mag > mag_field.max())
        throw ConfigError("video memory of " + std::to_string(bytes >> 20) +
                          " MiB cannot be said by LOCAL_MEMORY_RANGE");
    return mag_field.put(static_cast<std::uint32_t>(mag)) | pfb::lower_scale.put(scale);
}

} // namespace

std::unique_ptr<RegisterBlock> make_memory_size(const Board &board) {
    auto block = std::make_unique<ConstantsBlock>();
    switch (board.generation->memory_size) {
    case MemorySize::none:
        break;
    case MemorySize::range:
        block->set(pfb::local_memory_range_gp102,
                   memory_range(board.video_bytes, pfb::lower_mag_gp102));
        break;
    case MemorySize::mib_twice:
        block->set(pfb::local_memory_range_gp102,
                   memory_range(board.video_bytes, pfb::lower_mag_gh100));
        [[fallthrough]];
    case MemorySize::mib:
        block->set(pfb::usable_fb_size_in_mb, static_cast<std::uint32_t>(board.video_bytes >> 20));
        break;
    }
    return block;
}

} // namespace nvmodel
