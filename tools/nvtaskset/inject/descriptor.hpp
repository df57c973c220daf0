// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The launch descriptor (QMD) of each generation, as far as a partition needs it.
///
/// Source: NVIDIA/open-gpu-doc, classes/compute/clc3c0qmd.h, clc5c0qmd.h, clc6c0qmd.h, clc7c0qmd.h,
/// clc9c0qmd.h, clcbc0qmd.h, clcdc0qmd.h. Only V04_00 was seen to be obeyed (H100, H200); of any
/// other the probe decides.
#pragma once

#include "lib/partition/state.hpp"

namespace nvtaskset {

struct Layout {
    const char *name;
    std::uint16_t version_byte;
    std::uint8_t version;
    std::int16_t valid_bit;  ///< TPC_DISABLE_MASK_VALID; -1: the mask always holds
    std::uint16_t mask_byte; ///< TPC_DISABLE_MASK, before Hopper SM_DISABLE_MASK
    std::uint8_t mask_words;
    std::int16_t type_bit;      ///< QMD_TYPE, of 3 bits; -1: there are no clusters
    std::uint16_t cluster_byte; ///< GPC_CGA_WIDTH, _HEIGHT, _DEPTH: 6 bits in a byte each
};

/// nullptr: a layout that is not known, or that might be either of two. @p major of the GPU's
/// compute capability.
const Layout *layout_of(int major, const std::uint8_t *descriptor);

/// Writes the mask of TPCs that must not be used.
void set_disabled(const Layout &layout, std::uint8_t *descriptor, const Bits &disabled);

/// Takes out a mask that it may have.
void clear_disabled(const Layout &layout, std::uint8_t *descriptor);

/// Blocks that must run in one GPC at the same time: 1 without clusters.
std::uint32_t cluster_blocks(const Layout &layout, const std::uint8_t *descriptor);

} // namespace nvtaskset
