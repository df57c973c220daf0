// SPDX-License-Identifier: MIT OR GPL-2.0
// Page tables in memory, the manuals' examples of page tables, and walks.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <utility>

#include "decode/mmu.h"
#include "hw/ram.h"

namespace page_tables {

constexpr u8 VID = NV_APERTURE_VID, COH = NV_APERTURE_COH, NCOH = NV_APERTURE_NCOH;

/// Memory of 64-bit words by aperture and address. A word that was never written reads as 0.
class Memory {
  public:
    void set(u8 aperture, u64 addr, u64 value) { words_[{aperture, addr}] = value; }

    void read(u8 aperture, u64 addr, u32 words, u32 *out) const {
        for (u32 i = 0; i < words; i += 2) {
            const auto at = words_.find({aperture, addr + 4 * i});
            const u64 value = at == words_.end() ? 0 : at->second;
            out[i] = static_cast<u32>(value);
            out[i + 1] = static_cast<u32>(value >> 32);
        }
    }

  private:
    std::map<std::pair<u8, u64>, u64> words_;
};

struct Root {
    const nvdebug_mmu_format *format;
    u64 pdb;
    u8 aperture = VID;
    u64 video_memory = 0;
    u64 va_limit = 0;
};

inline nvdebug_walk walk(const Memory &memory, const Root &root, u64 va) {
    nvdebug_walk w;
    nvdebug_walk_start(&w, root.format, root.pdb, root.aperture, va);
    nvdebug_walk_limit(&w, root.video_memory, root.va_limit);
    u64 addr;
    u8 aperture;
    u32 count, words[NVDEBUG_MMU_ENTRY_WORDS], reads = 0;
    while (nvdebug_walk_wants(&w, &addr, &aperture, &count)) {
        EXPECT_LE(++reads, u32{NVDEBUG_WALK_STEPS});
        memory.read(aperture, addr, count, words);
        nvdebug_walk_feed(&w, words);
    }
    return w;
}

inline void expect_page(const nvdebug_walk &w, u8 aperture, u64 addr, u64 page_size) {
    EXPECT_EQ(w.state, NVDEBUG_WALK_MAPPED);
    EXPECT_EQ(w.aperture, aperture);
    EXPECT_EQ(w.addr, addr);
    EXPECT_EQ(w.page_size, page_size);
}

inline void expect_step(const nvdebug_walk &w, unsigned step, const char *name, u32 index,
                        u8 aperture, u64 addr) {
    ASSERT_LT(step, w.steps);
    EXPECT_STREQ(w.step[step].level->name, name);
    EXPECT_EQ(w.step[step].index, index);
    EXPECT_EQ(w.step[step].aperture, aperture);
    EXPECT_EQ(w.step[step].addr, addr);
}

constexpr u64 KIB = 1024, MIB = 1024 * KIB, GIB = 1024 * MIB;

constexpr u64 VA2 = 0x123456789ABCD;
constexpr u64 PDB2 = 0x200100000;

/// The manual's example, up to the big and small tables.
inline Memory version2() {
    Memory m;
    m.set(VID, 0x200100010, 0x0000000020010102);
    m.set(VID, 0x200101468, 0x0000000020010202);
    m.set(VID, 0x200102158, 0x000000001F00030C);
    m.set(COH, 0x1F00033C0, 0x0000000020010412);
    m.set(COH, 0x1F00033C8, 0x0000000020010502);
    return m;
}

constexpr u64 VA3 = 0x0123456789ABCDEF;
constexpr u64 PDB3 = 0x1234000000;

inline Memory version3() {
    Memory m;
    m.set(VID, 0x1234000008, 0x0000001234001012);
    m.set(VID, 0x1234001230, 0x0000001234002012);
    m.set(VID, 0x12340028A8, 0x0000001234003012);
    m.set(VID, 0x12340039E0, 0x000000405678901C);
    m.set(COH, 0x40567894D0, 0x0000001234005312);
    m.set(COH, 0x40567894D8, 0x0000001234006012);
    return m;
}

} // namespace page_tables
