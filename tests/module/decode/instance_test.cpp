// SPDX-License-Identifier: MIT OR GPL-2.0
// Instance blocks of each generation, subcontext tables, and the address space that work uses.
#include <cerrno>
#include <map>
#include <vector>

#include <gtest/gtest.h>

#include "decode/instance.h"

namespace {

using Words = std::vector<std::uint32_t>;

// Returns the words of the ranges, from a block given by word number. All other words are 0.
Words pick(const nvdebug_word_ranges &ranges, const std::map<unsigned, std::uint32_t> &block) {
    Words words;
    for (const nvdebug_word_range &range : ranges.range)
        for (unsigned i = 0; i < range.count; i++) {
            const auto found = block.find(range.first + i);
            words.push_back(found == block.end() ? 0 : found->second);
        }
    return words;
}

nvdebug_instance decode(const nvdebug_instance_layout &layout,
                        const std::map<unsigned, std::uint32_t> &block) {
    const Words words = pick(layout.ranges, block);
    nvdebug_instance instance{};
    EXPECT_EQ(nvdebug_instance_decode(&layout, words.data(), words.size(), &instance), 0);
    return instance;
}

TEST(Instance, WordsAreBounded) {
    for (const nvdebug_instance_layout *layout :
         {&nvdebug_instance_gk104, &nvdebug_instance_gm200, &nvdebug_instance_gp100,
          &nvdebug_instance_gv100, &nvdebug_instance_ga100, &nvdebug_instance_gh100}) {
        const size_t words = nvdebug_ranges_words(&layout->ranges);
        EXPECT_LE(words, static_cast<size_t>(NVDEBUG_INSTANCE_WORDS));
        const Words block(words);
        nvdebug_instance instance{};
        EXPECT_EQ(nvdebug_instance_decode(layout, block.data(), words, &instance), 0);
        EXPECT_EQ(nvdebug_instance_decode(layout, block.data(), words - 1, &instance), -EINVAL);
    }
}

TEST(Instance, Gk104) {
    const nvdebug_instance i = decode(nvdebug_instance_gk104, {
                                                                  {43, 0x0000001F},
                                                                  {57, 0x00000020},
                                                                  {61, 0x00000100},
                                                                  {128, 0x1C000806},
                                                                  {129, 0xFFFFFF01},
                                                                  {130, 0xFFFFF000},
                                                                  {131, 0x000000FF},
                                                                  {132, 0x00345004},
                                                                  {133, 0x00000012},
                                                              });
    EXPECT_EQ(i.version, 1);
    EXPECT_EQ(i.big_page_kib, 0);        // bit 11 is not Kepler's
    EXPECT_EQ(i.dir.addr, 0x11C000000u); // only 8 bits of the high word
    EXPECT_EQ(i.dir.aperture, 2);
    EXPECT_TRUE(i.dir.is_volatile);
    EXPECT_EQ(i.limit, 0xFFFFFFFFFFu);
    EXPECT_EQ(i.target_engine, 31);
    EXPECT_TRUE(i.privileged);
    EXPECT_EQ(i.wfi, 0x1200345000u);
    EXPECT_EQ(i.wfi_aperture, 0);
    EXPECT_TRUE(i.wfi_virtual);
    EXPECT_EQ(i.valid, 0u);
    // Kepler has the privilege in HCE_CTRL and not in CONFIG.
    EXPECT_FALSE(decode(nvdebug_instance_gk104, {{61, 0x100}}).privileged);
    EXPECT_FALSE(decode(nvdebug_instance_gk104, {{57, ~0x20u}}).privileged);
}

TEST(Instance, Gm200BigPages) {
    EXPECT_EQ(decode(nvdebug_instance_gm200, {{128, 0x00100800}}).big_page_kib, 64);
    EXPECT_EQ(decode(nvdebug_instance_gm200, {{128, 0x00100000}}).big_page_kib, 128);
    EXPECT_EQ(decode(nvdebug_instance_gm200, {{128, 0x00100C00}}).version, 1);
}

TEST(Instance, Gp100SaysItsVersion) {
    const nvdebug_instance v2 =
        decode(nvdebug_instance_gp100, {{128, 0x00100C00}, {129, 0x00000102}});
    EXPECT_EQ(v2.version, 2);
    EXPECT_EQ(v2.big_page_kib, 64);
    EXPECT_EQ(v2.dir.addr, 0x10200100000u);
    EXPECT_EQ(decode(nvdebug_instance_gp100, {{128, 0x00100400}}).version, 2);
    EXPECT_EQ(decode(nvdebug_instance_gp100, {{128, 0x00100400}}).big_page_kib, 128);
    const nvdebug_instance v1 = decode(nvdebug_instance_gp100, {{128, 0x00100000}});
    EXPECT_EQ(v1.version, 1);
    EXPECT_EQ(v1.big_page_kib, 128);
    EXPECT_EQ(v1.dir.addr, 0x100000u);
}

TEST(Instance, Gv100) {
    const nvdebug_instance i = decode(nvdebug_instance_gv100, {
                                                                  {43, 0x00010001},
                                                                  {57, 0x00000020},
                                                                  {61, 0x00001100},
                                                                  {128, 0x00100C00},
                                                                  {129, 0x00000002},
                                                                  {130, 0xFFFFF000},
                                                                  {131, 0x0001FFFF},
                                                                  {132, 0x7F000006},
                                                                  {133, 0x00000000},
                                                                  {134, 0xFFFFFFC5},
                                                                  {135, 0x80012345},
                                                                  {166, 0x80000001},
                                                                  {167, 0x00000002},
                                                              });
    EXPECT_EQ(i.version, 2);
    EXPECT_EQ(i.big_page_kib, 64);
    EXPECT_EQ(i.dir.addr, 0x200100000u);
    EXPECT_EQ(i.dir.aperture, 0);
    EXPECT_FALSE(i.dir.is_volatile);
    EXPECT_EQ(i.limit, 0x1FFFFFFFFFFFFu);
    EXPECT_EQ(i.target_engine, 1);
    EXPECT_TRUE(i.privileged);
    EXPECT_EQ(i.wfi, 0x7F000000u);
    EXPECT_EQ(i.wfi_aperture, 2);
    EXPECT_TRUE(i.wfi_virtual);
    EXPECT_EQ(i.veid, 5);
    EXPECT_EQ(i.pasid, 0x12345u);
    EXPECT_TRUE(i.ats);
    EXPECT_EQ(i.valid, 0x280000001u);
    EXPECT_FALSE(decode(nvdebug_instance_gv100, {{57, 0x20}}).privileged);
    // a physical pointer
    EXPECT_FALSE(decode(nvdebug_instance_gv100, {{132, 0x7F000000}}).wfi_virtual);
}

TEST(Instance, LimitThatIsNotSet) {
    EXPECT_EQ(decode(nvdebug_instance_gv100, {{130, 0}, {131, 0}}).limit, 0u);
    EXPECT_EQ(decode(nvdebug_instance_gv100, {{130, 0xFFF}}).limit, 0u);
    EXPECT_EQ(decode(nvdebug_instance_gp100, {{130, 0x1000}}).limit, 0x1FFFu);
}

TEST(Instance, AmpereHasNoLimit) {
    // ga10b and Blackwell keep another magic value there
    EXPECT_EQ(decode(nvdebug_instance_ga100, {{131, 0xCAFECA11}}).limit, 0u);
    EXPECT_TRUE(decode(nvdebug_instance_ga100, {{61, 0x100}}).privileged);
}

TEST(Instance, Gh100IgnoresTheFormatBit) {
    const nvdebug_instance i =
        decode(nvdebug_instance_gh100,
               {{128, 0x00100000}, {129, 0x00000030}, {131, 0xCAFECA11}, {134, 7}, {167, 1}});
    EXPECT_EQ(i.version, 3);
    EXPECT_EQ(i.big_page_kib, 64);
    EXPECT_EQ(i.dir.addr, 0x3000100000u);
    EXPECT_EQ(i.veid, 7);
    EXPECT_EQ(i.valid, 0x100000000u);
    EXPECT_EQ(i.limit, 0u);
}

// Virtual addresses have 40 bits, then 49, and 57 from Hopper on. The field has room for 58.
TEST(Instance, EngineContextAbove40Bits) {
    const std::map<unsigned, std::uint32_t> block = {{132, 0x00345004}, {133, 0xFDFEDCBA}};
    EXPECT_EQ(decode(nvdebug_instance_ga100, block).wfi, 0xBA00345000u);
    EXPECT_EQ(decode(nvdebug_instance_gh100, block).wfi, 0x1FEDCBA00345000u);
    EXPECT_EQ(decode(nvdebug_instance_gh100, {{133, 0x03FFFFFF}}).wfi, 0x3FFFFFF00000000u);
}

TEST(Instance, BusErrorsAreErrors) {
    nvdebug_instance instance{};
    for (const unsigned number : {129u, 133u})
        for (const std::uint32_t value : {0xFFFFFFFFu, 0xBADF1100u, 0xBAD00100u}) {
            const Words words = pick(nvdebug_instance_gv100.ranges, {{number, value}});
            EXPECT_EQ(nvdebug_instance_decode(&nvdebug_instance_gv100, words.data(), words.size(),
                                              &instance),
                      -EIO)
                << number;
        }
    // A low word may be part of an address that looks like an error.
    EXPECT_EQ(decode(nvdebug_instance_gv100, {{128, 0xBADF1000}}).dir.addr, 0xBADF1000u);
}

/// An error code would be another channel's VEID, an address space of a process, or a limit.
TEST(Instance, ErrorCodesAreNoFields) {
    nvdebug_instance instance{};
    for (const unsigned number : {131u, 134u, 135u}) {
        const Words words = pick(nvdebug_instance_gv100.ranges, {{number, 0xBADF1100}});
        EXPECT_EQ(
            nvdebug_instance_decode(&nvdebug_instance_gv100, words.data(), words.size(), &instance),
            -EIO)
            << number;
        EXPECT_EQ(decode(nvdebug_instance_gv100, {{number, 0xFFFFFFFF}}).dir.addr, 0u) << number;
    }
}

TEST(Subcontext, RangesOfTheTable) {
    const auto range = [](std::uint64_t valid, std::uint32_t first) {
        const nvdebug_word_range words = nvdebug_subcontext_range(valid, first);
        return std::pair<int, int>(words.first, words.count);
    };
    EXPECT_EQ(range(0, 0).second, 0);
    EXPECT_EQ(range(1, 0), std::make_pair(168, 3));
    EXPECT_EQ(range(1, 1).second, 0);
    EXPECT_EQ(range(0x7, 0), std::make_pair(168, 11));
    EXPECT_EQ(range(0x6, 0), std::make_pair(172, 7));
    EXPECT_EQ(range(0x8000000000000005, 0), std::make_pair(168, 3));
    EXPECT_EQ(range(0x8000000000000005, 1), std::make_pair(176, 3));
    EXPECT_EQ(range(0x8000000000000005, 3), std::make_pair(420, 3));
    EXPECT_EQ(range(0x8000000000000005, 64).second, 0);
    EXPECT_EQ(range(~0ull, 0), std::make_pair(168, 255));
}

TEST(Subcontext, Entry) {
    nvdebug_subcontext sc{};
    const Words words = {0x00123C06, 0x00000001, 0x80000007};
    EXPECT_EQ(nvdebug_subcontext_decode(9, words.data(), words.size(), &sc), 1);
    EXPECT_EQ(sc.veid, 9);
    EXPECT_EQ(sc.dir.addr, 0x100123000u);
    EXPECT_EQ(sc.dir.aperture, 2);
    EXPECT_TRUE(sc.dir.is_volatile);
    EXPECT_EQ(sc.pasid, 7u);
    EXPECT_TRUE(sc.ats);
    EXPECT_EQ(nvdebug_subcontext_decode(9, words.data(), 2, &sc), -EINVAL);
}

TEST(Subcontext, UnusedEntriesDoNotCount) {
    nvdebug_subcontext sc{};
    const Words unused = {1, 1, 0}; // as drivers write it
    const Words unbound = {0x00123C01, 0, 0};
    const Words nowhere = {0x00000C00, 0, 0};
    EXPECT_EQ(nvdebug_subcontext_decode(0, unused.data(), 3, &sc), 0);
    EXPECT_EQ(nvdebug_subcontext_decode(0, unbound.data(), 3, &sc), 0);
    EXPECT_EQ(nvdebug_subcontext_decode(0, nowhere.data(), 3, &sc), 0);
    const Words error = {0xBADF1100, 0xBADF1100, 0xBADF1100};
    EXPECT_EQ(nvdebug_subcontext_decode(0, error.data(), 3, &sc), -EIO);
    const Words wrong_pasid = {0x00123C00, 0, 0xBADF1100};
    EXPECT_EQ(nvdebug_subcontext_decode(0, wrong_pasid.data(), 3, &sc), -EIO);
}

TEST(Subcontext, ComputeUsesItsOwnOrElseTheChannels) {
    nvdebug_instance instance{};
    instance.dir.addr = 0x1000;
    instance.veid = 2;
    std::vector<nvdebug_subcontext> table(2);
    table[0].veid = 0;
    table[0].dir.addr = 0x2000;
    table[1].veid = 2;
    table[1].dir.addr = 0x3000;
    EXPECT_EQ(nvdebug_instance_compute_dir(&instance, table.data(), 2)->addr, 0x3000u);
    EXPECT_EQ(nvdebug_instance_compute_dir(&instance, table.data(), 1)->addr, 0x1000u);
    EXPECT_EQ(nvdebug_instance_compute_dir(&instance, nullptr, 0)->addr, 0x1000u);
}

TEST(PageDir, SameByAddressAndAperture) {
    const nvdebug_page_dir a = {0x1000, 0, false}, b = {0x1000, 0, true};
    const nvdebug_page_dir c = {0x1000, 2, false}, d = {0x2000, 0, false};
    EXPECT_TRUE(nvdebug_page_dir_same(&a, &b));
    EXPECT_FALSE(nvdebug_page_dir_same(&a, &c));
    EXPECT_FALSE(nvdebug_page_dir_same(&a, &d));
}

} // namespace
