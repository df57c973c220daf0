// SPDX-License-Identifier: MIT OR GPL-2.0
// The words that submit a runlist.
#include <array>
#include <cerrno>

#include <gtest/gtest.h>

#include "decode/submit.h"
#include "hw/ram.h"

namespace {

constexpr u64 bits(unsigned hi, unsigned lo) {
    return (2ul << hi) - (1ul << lo);
}
constexpr u64 ptr_gk104 = bits(39, 12);
constexpr u64 ptr_ga102 = bits(39, 10);
constexpr u64 ptr_gb202 = bits(51, 8);

using Words = std::array<u32, NVDEBUG_SUBMIT_WORDS>;

nvdebug_runlist_location at(u64 address, u8 aperture, u32 entries) {
    nvdebug_runlist_location loc{};
    loc.addr = address;
    loc.aperture = aperture;
    loc.entries = entries;
    return loc;
}

TEST(Submit, SharedPort) {
    // address >> 12, target in bits 29:28; entries, runlist in bits 23:20
    Words word{};
    auto loc = at(0x2fc000000, NV_APERTURE_VID, 9);
    ASSERT_EQ(nvdebug_submit_words_gk104(&loc, 3, ptr_gk104, word.data()), 2);
    EXPECT_EQ(word[0], 0x002fc000u);
    EXPECT_EQ(word[1], 0x00300009u);

    loc = at(0xfffffff000, NV_APERTURE_NCOH, 65535);
    ASSERT_EQ(nvdebug_submit_words_gk104(&loc, 12, ptr_gk104, word.data()), 2);
    EXPECT_EQ(word[0], 0x3fffffffu);
    EXPECT_EQ(word[1], 0x00c0ffffu);

    loc = at(0x1000, NV_APERTURE_COH, 0);
    ASSERT_EQ(nvdebug_submit_words_gk104(&loc, 0, ptr_gk104, word.data()), 2);
    EXPECT_EQ(word[0], 0x20000001u);
    EXPECT_EQ(word[1], 0u);
}

TEST(Submit, OwnRegisters) {
    // address in place, target in bits 1:0; its upper half; entries, offset 0
    Words word{};
    auto loc = at(0xbfc000400, NV_APERTURE_COH, 9);
    ASSERT_EQ(nvdebug_submit_words_tu102(&loc, 5, ptr_ga102, word.data()), 3);
    EXPECT_EQ(word[0], 0xfc000402u);
    EXPECT_EQ(word[1], 0xbu);
    EXPECT_EQ(word[2], 9u);

    loc = at(0xfffffffffff00, NV_APERTURE_NCOH, 65535);
    ASSERT_EQ(nvdebug_submit_words_tu102(&loc, 0, ptr_gb202, word.data()), 3);
    EXPECT_EQ(word[0], 0xffffff03u);
    EXPECT_EQ(word[1], 0xfffffu);
    EXPECT_EQ(word[2], 0xffffu);
}

TEST(Submit, UnencodableListsAreRefused) {
    Words word{};
    for (u64 address : {0x10000000000ul, 0x800ul, 0x1400ul}) {
        const auto loc = at(address, NV_APERTURE_COH, 1);
        EXPECT_EQ(nvdebug_submit_words_gk104(&loc, 0, ptr_gk104, word.data()), -ERANGE);
        EXPECT_EQ(nvdebug_submit_words_tu102(&loc, 0, ptr_gk104, word.data()), -ERANGE);
    }
    const auto long_list = at(0x1000, NV_APERTURE_VID, 65536);
    EXPECT_EQ(nvdebug_submit_words_gk104(&long_list, 0, ptr_gk104, word.data()), -ERANGE);
    EXPECT_EQ(nvdebug_submit_words_tu102(&long_list, 0, ptr_gb202, word.data()), -ERANGE);
    for (u32 untouched : word)
        EXPECT_EQ(untouched, 0u);
}

// The registers read back as the same place.
TEST(Submit, AgreesWithLocation) {
    Words word{};
    nvdebug_runlist_location back{};

    auto loc = at(0x9876543000, NV_APERTURE_COH, 77);
    ASSERT_EQ(nvdebug_submit_words_gk104(&loc, 7, ptr_gk104, word.data()), 2);
    nvdebug_runlist_location_gk104(word[0], word[1] & 0xffff, &back);
    EXPECT_TRUE(nvdebug_runlist_location_same(&loc, &back));

    ASSERT_EQ(nvdebug_submit_words_tu102(&loc, 7, ptr_ga102, word.data()), 3);
    nvdebug_runlist_location_tu102(word[0], word[1], word[2], 0, 0xfffffc00, 0xff, &back);
    EXPECT_TRUE(nvdebug_runlist_location_same(&loc, &back));
}

} // namespace
