// SPDX-License-Identifier: MIT OR GPL-2.0
// Context images and per-VEID headers.
#include <cerrno>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "decode/context.h"

namespace {

using Words = std::vector<std::uint32_t>;

// Returns the words of the ranges, from an image given by byte offset. All other words are 0.
Words pick(const nvdebug_word_ranges &ranges, const std::map<unsigned, std::uint32_t> &image) {
    Words words;
    for (const nvdebug_word_range &range : ranges.range)
        for (unsigned i = 0; i < range.count; i++) {
            const auto found = image.find(4 * (range.first + i));
            words.push_back(found == image.end() ? 0 : found->second);
        }
    return words;
}

int decode(const nvdebug_context_layout &layout, const std::map<unsigned, std::uint32_t> &image,
           nvdebug_context *context) {
    const Words words = pick(layout.ranges, image);
    return nvdebug_context_decode(&layout, words.data(), words.size(), context);
}

const std::map<unsigned, std::uint32_t> image = {
    {0x0C, 0xCAFE0020}, {0x68, 0x00012345}, {0x80, 0xFFFFFFFD}, {0x84, 0x00000002},
    {0xD0, 2},          {0xD4, 10},         {0xD8, 3},          {0xDC, 4},
    {0xF0, 17},         {0xF4, 19},         {0xF8, 18},         {0xFC, 0x600DC0DE},
};

TEST(Context, WordsAreBounded) {
    for (const nvdebug_context_layout *layout : {&nvdebug_context_gk104, &nvdebug_context_gp100,
                                                 &nvdebug_context_gv100, &nvdebug_context_gh100}) {
        const Words words = pick(layout->ranges, image);
        nvdebug_context context{};
        EXPECT_LE(words.size(), static_cast<size_t>(NVDEBUG_CONTEXT_WORDS));
        EXPECT_EQ(nvdebug_context_decode(layout, words.data(), words.size() - 1, &context),
                  -EINVAL);
    }
    EXPECT_EQ(nvdebug_ranges_words(&nvdebug_context_pointer_ranges),
              static_cast<size_t>(NVDEBUG_CONTEXT_POINTER_WORDS));
}

TEST(Context, StartsAsAHeaderDoes) {
    for (const nvdebug_word_ranges *ranges :
         {&nvdebug_context_gv100.ranges, &nvdebug_context_gh100.ranges,
          &nvdebug_context_pointer_ranges}) {
        EXPECT_EQ(ranges->range[0].first, 0x0C / 4);
        EXPECT_EQ(ranges->range[0].count, 1);
    }
}

TEST(Context, Gv100) {
    nvdebug_context c{};
    ASSERT_EQ(decode(nvdebug_context_gv100, image, &c), 0);
    EXPECT_EQ(c.id, 17u);
    EXPECT_EQ(c.saves, 19u);
    EXPECT_EQ(c.restores, 18u);
    EXPECT_EQ(c.wfi_saves, 2u);
    EXPECT_EQ(c.cta_saves, 10u);
    EXPECT_EQ(c.gfxp_saves, 3u);
    EXPECT_EQ(c.cilp_saves, 4u);
    EXPECT_EQ(c.type, 0x20);
    EXPECT_EQ(c.graphics_preemption, 1);
    EXPECT_EQ(c.compute_preemption, 2);
    EXPECT_TRUE(c.save_area);
}

TEST(Context, Gp100HasNoType) {
    nvdebug_context c{};
    ASSERT_EQ(decode(nvdebug_context_gp100, image, &c), 0);
    EXPECT_EQ(c.type, 0);
    EXPECT_EQ(c.compute_preemption, 2);
    EXPECT_EQ(c.cilp_saves, 4u);
    EXPECT_TRUE(c.save_area);
    // Nothing is known of the word that has the pointer's high bits from Volta on.
    ASSERT_EQ(decode(nvdebug_context_gp100, {{0x64, 1}, {0xFC, 0x600DC0DE}}, &c), 0);
    EXPECT_FALSE(c.save_area);
}

TEST(Context, Gk104HasCountersAlone) {
    nvdebug_context c{};
    ASSERT_EQ(decode(nvdebug_context_gk104, image, &c), 0);
    EXPECT_EQ(c.id, 17u);
    EXPECT_EQ(c.saves, 19u);
    EXPECT_EQ(c.restores, 18u);
    EXPECT_EQ(c.wfi_saves, 0u);
}

TEST(Context, SaveArea) {
    nvdebug_context c{};
    ASSERT_EQ(decode(nvdebug_context_gv100, {{0xFC, 0x600DC0DE}}, &c), 0);
    EXPECT_FALSE(c.save_area);
    ASSERT_EQ(decode(nvdebug_context_gv100, {{0x64, 1}, {0xFC, 0x600DC0DE}}, &c), 0);
    EXPECT_TRUE(c.save_area);
    ASSERT_EQ(decode(nvdebug_context_gv100, {{0x64, 0xFFFE0000}, {0xFC, 0x600DC0DE}}, &c), 0);
    EXPECT_FALSE(c.save_area);
}

TEST(Context, AddressOfTheSaveAreaMayLookLikeAnErrorCode) {
    for (const nvdebug_context_layout *layout :
         {&nvdebug_context_gp100, &nvdebug_context_gv100, &nvdebug_context_gh100}) {
        nvdebug_context c{};
        ASSERT_EQ(decode(*layout, {{0x64, 0x7F}, {0x68, 0xBADF1100}, {0xFC, 0x600DC0DE}}, &c), 0);
        EXPECT_TRUE(c.save_area);
        // Where the bus did not answer, the word before is an error code, too.
        EXPECT_EQ(decode(*layout, {{0x64, 0xBADF1100}, {0x68, 0xBADF1100}, {0xFC, 0x600DC0DE}}, &c),
                  -EIO);
    }
}

TEST(Context, MemoryWithoutTheMagicIsNoImage) {
    nvdebug_context c{};
    EXPECT_EQ(decode(nvdebug_context_gv100, {{0xF0, 17}}, &c), -EBADMSG);
    EXPECT_EQ(decode(nvdebug_context_gv100, {{0xF0, 17}, {0xFC, 0xFFFFFFFF}}, &c), -EBADMSG);
    EXPECT_EQ(decode(nvdebug_context_gv100, {{0xD0, 0xBADF1100}, {0xFC, 0x600DC0DE}}, &c), -EIO);
    // A counter that was never set reads as ones.
    EXPECT_EQ(decode(nvdebug_context_gv100, {{0xD0, 0xFFFFFFFF}, {0xFC, 0x600DC0DE}}, &c), 0);
}

TEST(Context, VeidHeaderHasAPointer) {
    u64 va = 0;
    Words words = pick(nvdebug_context_pointer_ranges,
                       {{0x0C, 0x21}, {0x78, 0xFFFE0001}, {0x7C, 0x7F010000}});
    EXPECT_TRUE(nvdebug_context_pointer_decode(&nvdebug_context_gv100, words.data(), &va));
    EXPECT_EQ(va, 0x17F010000u);
    words = pick(nvdebug_context_pointer_ranges, image);
    EXPECT_FALSE(nvdebug_context_pointer_decode(&nvdebug_context_gv100, words.data(), &va));
}

// Addresses have 57 bits from Hopper on, and 49 before.
TEST(Context, VeidHeaderHas57BitsFromHopperOn) {
    u64 va = 0;
    const Words words = pick(nvdebug_context_pointer_ranges,
                             {{0x0C, 0x21}, {0x78, 0x01FEDCBA}, {0x7C, 0x7F010000}});
    EXPECT_TRUE(nvdebug_context_pointer_decode(&nvdebug_context_gh100, words.data(), &va));
    EXPECT_EQ(va, 0x1FEDCBA7F010000u);
    EXPECT_TRUE(nvdebug_context_pointer_decode(&nvdebug_context_gv100, words.data(), &va));
    EXPECT_EQ(va, 0xDCBA7F010000u);
}

TEST(Context, Names) {
    EXPECT_EQ(std::string(nvdebug_context_type_name(0x20)), "compute");
    EXPECT_EQ(std::string(nvdebug_context_type_name(0x12)), "DX11");
    EXPECT_EQ(nvdebug_context_type_name(0x13), nullptr);
    EXPECT_EQ(std::string(nvdebug_graphics_preemption_name(1)), "GFXP");
    EXPECT_EQ(nvdebug_graphics_preemption_name(2), nullptr);
    EXPECT_EQ(std::string(nvdebug_compute_preemption_name(0)), "WFI");
    EXPECT_EQ(std::string(nvdebug_compute_preemption_name(2)), "CILP");
    EXPECT_EQ(nvdebug_compute_preemption_name(3), nullptr);
}

TEST(Context, NamesOfTypes) {
    EXPECT_STREQ(nvdebug_context_type_name(0x00), "undefined");
    EXPECT_STREQ(nvdebug_context_type_name(0x08), "OpenGL");
    EXPECT_STREQ(nvdebug_context_type_name(0x10), "DX9");
    EXPECT_STREQ(nvdebug_context_type_name(0x11), "DX10");
    EXPECT_STREQ(nvdebug_context_type_name(0x12), "DX11");
    EXPECT_STREQ(nvdebug_context_type_name(0x20), "compute");
    EXPECT_STREQ(nvdebug_context_type_name(0x21), "per-VEID header");
    EXPECT_EQ(nvdebug_context_type_name(0x22), nullptr);
}

} // namespace
