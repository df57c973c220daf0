// SPDX-License-Identifier: MIT OR GPL-2.0
// The descriptor by which a GPU takes a launch (QMD), as NVIDIA's open-gpu-doc lays it out for each
// generation: the parts that may be read or changed.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>

namespace stand_in {

/// A field as the headers give it: its highest and its lowest bit.
struct Bits {
    unsigned high, low;
};

/// Where a generation has what.
struct Layout {
    std::uint8_t version; ///< major, minor
    Bits version_at, width, height, depth, block[3];
    Bits mask;                       ///< a bit for each TPC: not to be used
    unsigned valid = 0;              ///< the bit that is set if that holds; 0: it always does
    Bits type = {}, cluster[3] = {}; ///< generations with clusters
    Bits other;                      ///< of another purpose, where the version of other layouts is
    std::uint32_t other_value;
};

extern const Layout v02_02, v02_03, v03_00, v04_00, v05_00;
/// Like V04.00, with a version that no header has.
extern const Layout unknown;

using Mask = std::bitset<256>;
using Dimensions = std::array<unsigned, 3>;

class Descriptor {
  public:
    void build(const Layout &layout, const Dimensions &grid, const Dimensions &block,
               const Dimensions &cluster);
    /// The TPCs that are not to be used.
    Mask disabled(const Layout &layout) const;
    /// The mask of another one, and whether it holds.
    void take_mask(const Layout &layout, const Descriptor &other);
    /// Whether there is no difference but in the mask and the bit that makes it valid.
    bool same_but_mask(const Layout &layout, const Descriptor &other) const;
    std::uint32_t get(Bits field) const;
    void *words() { return words_.data(); }

  private:
    void set(Bits field, std::uint32_t value);
    std::array<std::uint32_t, 96> words_ = {};
};

} // namespace stand_in
