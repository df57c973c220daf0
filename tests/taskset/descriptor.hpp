// SPDX-License-Identifier: MIT OR GPL-2.0
// The launch descriptor (QMD) as NVIDIA's open-gpu-doc lays it out for each generation, as far as
// the stand-in or nvtaskset reads or changes it.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>

namespace stand_in {

/// The highest and the lowest bit of a field, as in the headers.
struct Bits {
    unsigned high, low;
};

/// The places of the fields in the descriptors of a generation.
struct Layout {
    std::uint8_t version; ///< major and minor number, four bits each
    Bits version_at, width, height, depth, block[3];
    Bits mask;                       ///< a bit for each TPC that must not be used
    unsigned valid = 0;              ///< the bit that makes the mask valid; 0: it always is
    Bits type = {}, cluster[3] = {}; ///< fields of generations with clusters
    Bits other;                      ///< an unrelated field in the place of others' version
    std::uint32_t other_value;
};

extern const Layout v02_02, v02_03, v03_00, v04_00, v05_00;
/// The layout V04.00 with a version that is in no header.
extern const Layout unknown;

using Mask = std::bitset<256>;
using Dimensions = std::array<unsigned, 3>;

class Descriptor {
  public:
    void build(const Layout &layout, const Dimensions &grid, const Dimensions &block,
               const Dimensions &cluster);
    /// Returns the TPCs that must not be used.
    Mask disabled(const Layout &layout) const;
    /// Copies the mask of another descriptor, and the bit that makes it valid.
    void take_mask(const Layout &layout, const Descriptor &other);
    /// Returns true if the descriptors differ at most in the mask and the bit that makes it valid.
    bool same_but_mask(const Layout &layout, const Descriptor &other) const;
    std::uint32_t get(Bits field) const;
    void *words() { return words_.data(); }

  private:
    void set(Bits field, std::uint32_t value);
    std::array<std::uint32_t, 96> words_ = {};
};

} // namespace stand_in
