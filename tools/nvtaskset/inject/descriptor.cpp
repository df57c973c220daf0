// SPDX-License-Identifier: MIT OR GPL-2.0
#include "descriptor.hpp"

#include <algorithm>
#include <cstring>
#include <span>

namespace nvtaskset {
namespace {

struct Generation {
    int major; ///< major number of the compute capability
    std::span<const Layout> layouts;
};

// MW(high:low) of NVIDIA's headers counts bits from the begin of the descriptor, in little-endian
// words.
constexpr Layout volta[] = {{"V02_02", 72, 0x22, -1, 84, 2, -1, 0}, // also Turing's and Ampere's
                            {"V02_03", 72, 0x23, -1, 84, 2, -1, 0},
                            {"V02_04", 72, 0x24, -1, 84, 2, -1, 0},
                            {"V03_00", 72, 0x30, -1, 84, 2, -1, 0}};
constexpr Layout hopper[] = {{"V04_00", 72, 0x40, 31, 304, 4, 23, 268}};
constexpr Layout blackwell[] = {{"V05_00", 58, 0x50, 159, 280, 8, 151, 256},
                                {"V04_01", 72, 0x41, 31, 304, 4, 23, 268}};
constexpr Generation generations[] = {
    {7, volta}, {8, volta}, {9, hopper}, {10, blackwell}, {12, blackwell}};

constexpr std::uint8_t type_gpc_cluster = 3, type_gpu_and_gpc_cluster = 5;

} // namespace

const Layout *layout_of(int major, const std::uint8_t *descriptor) {
    const auto *const generation = std::ranges::find(generations, major, &Generation::major);
    if (generation == std::end(generations))
        return nullptr;
    const Layout *found = nullptr;
    for (const Layout &layout : generation->layouts) {
        if (descriptor[layout.version_byte] != layout.version)
            continue;
        if (found)
            return nullptr; // a field of one layout looks like the version of the other
        found = &layout;
    }
    return found;
}

void set_disabled(const Layout &layout, std::uint8_t *descriptor, const Bits &disabled) {
    std::memcpy(descriptor + layout.mask_byte, disabled.data(),
                layout.mask_words * sizeof(disabled[0]));
    if (layout.valid_bit >= 0)
        descriptor[layout.valid_bit / 8] = static_cast<std::uint8_t>(
            descriptor[layout.valid_bit / 8] | 1U << layout.valid_bit % 8);
}

void clear_disabled(const Layout &layout, std::uint8_t *descriptor) {
    std::memset(descriptor + layout.mask_byte, 0, layout.mask_words * sizeof(Bits::value_type));
    if (layout.valid_bit >= 0)
        descriptor[layout.valid_bit / 8] = static_cast<std::uint8_t>(
            descriptor[layout.valid_bit / 8] & ~(1U << layout.valid_bit % 8));
}

std::uint32_t cluster_blocks(const Layout &layout, const std::uint8_t *descriptor) {
    if (layout.type_bit < 0)
        return 1;
    std::uint32_t word;
    std::memcpy(&word, descriptor + layout.type_bit / 32 * 4, sizeof(word));
    const std::uint32_t type = word >> layout.type_bit % 32 & 7;
    if (type != type_gpc_cluster && type != type_gpu_and_gpc_cluster)
        return 1;
    std::uint32_t blocks = 1;
    for (int side = 0; side < 3; side++)
        blocks *= std::max(descriptor[layout.cluster_byte + side] & 0x3f, 1);
    return blocks;
}

} // namespace nvtaskset
