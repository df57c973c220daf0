// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The launch descriptor (QMD) of each generation, as far as a partition needs it.
///
/// Source: NVIDIA/open-gpu-doc, classes/compute/clc3c0qmd.h, clc5c0qmd.h, clc6c0qmd.h, clc7c0qmd.h,
/// clc9c0qmd.h, clcbc0qmd.h, clcdc0qmd.h. Only V04_00 was seen to have an effect (H100, H200). For
/// other versions the probe finds out whether the GPU obeys the mask.
#pragma once

#include "lib/partition/state.hpp"

namespace nvtaskset {

struct Layout {
    const char *name;
    std::uint16_t version_byte;
    std::uint8_t version;
    std::int16_t valid_bit;  ///< TPC_DISABLE_MASK_VALID; -1: the mask always holds
    std::uint16_t mask_byte; ///< offset of TPC_DISABLE_MASK, which the manuals call
                             ///< SM_DISABLE_MASK before Hopper; a bit is a TPC in both
    std::uint8_t mask_words;
    std::int16_t type_bit;      ///< QMD_TYPE, of 3 bits; -1: there are no clusters
    std::uint16_t cluster_byte; ///< GPC_CGA_WIDTH, _HEIGHT, _DEPTH: 6 bits in a byte each
};

/// Returns the layout of a descriptor, or nullptr if it is unknown or might be either of two.
/// @param major of the GPU's compute capability
const Layout *layout_of(int major, const std::uint8_t *descriptor);

/// Writes the mask of TPCs that must not be used.
void set_disabled(const Layout &layout, std::uint8_t *descriptor, const Bits &disabled);

/// Removes the mask from the descriptor, if it has one.
void clear_disabled(const Layout &layout, std::uint8_t *descriptor);

/// Returns the number of blocks that must run in one GPC at the same time: 1 without clusters.
std::uint32_t cluster_blocks(const Layout &layout, const std::uint8_t *descriptor);

} // namespace nvtaskset
