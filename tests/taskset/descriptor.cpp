// SPDX-License-Identifier: MIT OR GPL-2.0
#include "descriptor.hpp"

#include <algorithm>

namespace stand_in {

// Source: clc3c0qmd.h, QMDV02_02 (SM_DISABLE_MASK). libsmctrl has found that its bits are TPCs.
const Layout v02_02 = {.version = 0x22,
                       .version_at = {583, 576},
                       .width = {415, 384},
                       .height = {431, 416},
                       .depth = {463, 448},
                       .block = {{607, 592}, {623, 608}, {639, 624}},
                       .mask = {735, 672},
                       .other = {471, 464},
                       .other_value = 0};

namespace {

Layout like(const Layout &layout, std::uint8_t version) {
    Layout other = layout;
    other.version = version;
    other.other_value = 0;
    return other;
}

} // namespace

// Source: clc5c0qmd.h, clc6c0qmd.h. These fields are where Volta has them.
const Layout v02_03 = like(v02_02, 0x23), v03_00 = like(v02_02, 0x30);

// Source: clcbc0qmd.h; version, mask and valid bit were measured. DEPENDENT_QMD0_POINTER, with any
// value, is in the byte in which V05.00 has its version.
const Layout v04_00 = {.version = 0x40,
                       .version_at = {583, 576},
                       .width = {1055, 1024},
                       .height = {1071, 1056},
                       .depth = {1103, 1088},
                       .block = {{1167, 1152}, {1183, 1168}, {1199, 1184}},
                       .mask = {2559, 2432},
                       .valid = 31,
                       .type = {25, 23},
                       .cluster = {{2149, 2144}, {2157, 2152}, {2165, 2160}},
                       .other = {471, 464},
                       .other_value = 0x50};
const Layout unknown = like(v04_00, 0x60);

// Source: clcdc0qmd.h. RELEASE_SEMAPHORE0_PAYLOAD_UPPER is in the byte in which the others have
// their version. The header does not have the number of the mask's bits; 256 reach up to the next
// field.
const Layout v05_00 = {.version = 0x50,
                       .version_at = {471, 464},
                       .width = {1279, 1248},
                       .height = {1295, 1280},
                       .depth = {1327, 1312},
                       .block = {{1103, 1088}, {1119, 1104}, {1127, 1120}},
                       .mask = {2495, 2240},
                       .valid = 159,
                       .type = {153, 151},
                       .cluster = {{2053, 2048}, {2061, 2056}, {2069, 2064}},
                       .other = {583, 576},
                       .other_value = 0x40};

void Descriptor::set(Bits field, std::uint32_t value) {
    for (unsigned bit = field.low; bit <= field.high; bit++)
        if (value >> (bit - field.low) & 1)
            words_[bit / 32] |= 1U << bit % 32;
        else
            words_[bit / 32] &= ~(1U << bit % 32);
}

std::uint32_t Descriptor::get(Bits field) const {
    std::uint32_t value = 0;
    for (unsigned bit = field.low; bit <= field.high; bit++)
        value |= (words_[bit / 32] >> bit % 32 & 1) << (bit - field.low);
    return value;
}

void Descriptor::build(const Layout &layout, const Dimensions &grid, const Dimensions &block,
                       const Dimensions &cluster) {
    words_ = {};
    set(layout.version_at, layout.version);
    set(layout.other, layout.other_value);
    set(layout.width, grid[0]);
    set(layout.height, grid[1]);
    set(layout.depth, grid[2]);
    for (unsigned i = 0; i < 3; i++)
        set(layout.block[i], block[i]);
    if (!layout.type.high)
        return;
    const bool has_cluster = cluster[0] * cluster[1] * cluster[2] > 1;
    set(layout.type, has_cluster ? 3 : 2); // GRID_GPC_CGA, GRID_CTA
    for (unsigned i = 0; has_cluster && i < 3; i++)
        set(layout.cluster[i], cluster[i]);
}

Mask Descriptor::disabled(const Layout &layout) const {
    Mask mask;
    if (layout.valid && !get({layout.valid, layout.valid}))
        return mask;
    for (unsigned bit = layout.mask.low; bit <= layout.mask.high; bit++)
        mask[bit - layout.mask.low] = get({bit, bit});
    return mask;
}

void Descriptor::take_mask(const Layout &layout, const Descriptor &other) {
    for (unsigned bit = layout.mask.low; bit <= layout.mask.high; bit++)
        set({bit, bit}, other.get({bit, bit}));
    if (layout.valid)
        set({layout.valid, layout.valid}, other.get({layout.valid, layout.valid}));
}

bool Descriptor::same_but_mask(const Layout &layout, const Descriptor &other) const {
    Descriptor mine = *this, theirs = other;
    for (Descriptor *each : {&mine, &theirs}) {
        for (unsigned bit = layout.mask.low; bit <= layout.mask.high; bit++)
            each->set({bit, bit}, 0);
        if (layout.valid)
            each->set({layout.valid, layout.valid}, 0);
    }
    return mine.words_ == theirs.words_;
}

} // namespace stand_in
