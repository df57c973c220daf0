// SPDX-License-Identifier: MIT OR GPL-2.0
// Timeslices: the text, the encoding, the header.
#include <cerrno>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "decode/runlist.h"
#include "decode/timeslice.h"

namespace {

constexpr u64 longest = 8556380160; // (255 << 15) * 1024 ns

int parse(std::string_view text, u64 *ns = nullptr) {
    // A copy without terminator, so that the sanitizer sees a read past the end.
    const std::vector<char> bytes(text.begin(), text.end());
    nvdebug_cursor cursor{bytes.data(), bytes.data() + bytes.size()};
    u64 value = 0;
    const int ret = nvdebug_cursor_microseconds(&cursor, &value);
    if (ns)
        *ns = value;
    return ret;
}

TEST(Microseconds, DecimalsAreOptional) {
    const struct {
        std::string_view text;
        u64 ns;
    } cases[] = {
        {"2000", 2000000},
        {"1.024", 1024},
        {"1.02", 1020},
        {"1.5", 1500},
        {"0", 0},
        {"0.001", 1},
        {"007", 7000},
        {"1500.000", 1500000},
        {"8556380.160", longest},
        {"4294967295.999", 4294967295999},
        {"12 34", 12000},
        {"12\n", 12000},
    };
    for (const auto &c : cases) {
        u64 ns = 0;
        EXPECT_EQ(parse(c.text, &ns), 0) << c.text;
        EXPECT_EQ(ns, c.ns) << c.text;
    }
}

TEST(Microseconds, OtherTextsAreRefused) {
    for (std::string_view text : {"", " 1", ".5", "1.", "1. 5", "1.0000", "1.5.5", "1,5", "-1",
                                  "+1", "0x10", "1e3", "1us", "x", "1.x", "99999999999x"})
        EXPECT_EQ(parse(text), -EINVAL) << text;
    for (std::string_view text : {"4294967296", "99999999999999999999999.5"})
        EXPECT_EQ(parse(text), -ERANGE) << text;
}

// The pairs that the hardware reference lists, by their durations.
TEST(Timeslice, GoldenEncodings) {
    const struct {
        u64 ns;
        u8 timeout, scale;
    } cases[] = {
        {1048576, 128, 3}, // the default of drivers
        {1024000, 250, 2}, // nvgpu's 1000 units
        {1998848, 244, 3}, // the longest below 2 ms
        {2000000, 244, 3},      {2048000, 250, 3}, {1024, 1, 0},      {2047, 1, 0},
        {2048, 2, 0},           {261120, 255, 0}, // the last with the finest scale
        {262143, 255, 0},       {262144, 128, 1},  {1500000, 183, 3}, {longest, 255, 15},
        {longest - 1, 254, 15},
    };
    for (const auto &c : cases) {
        u8 timeout = 0, scale = 0;
        ASSERT_EQ(nvdebug_timeslice_encode(c.ns, &timeout, &scale), 0) << c.ns;
        EXPECT_EQ(timeout, c.timeout) << c.ns;
        EXPECT_EQ(scale, c.scale) << c.ns;
    }
}

TEST(Timeslice, TooShortOrTooLongIsRefused) {
    u8 timeout = 0, scale = 0;
    for (u64 ns : {u64{0}, u64{1}, u64{1023}, u64{longest + 1}, ~u64{0}})
        EXPECT_EQ(nvdebug_timeslice_encode(ns, &timeout, &scale), -ERANGE) << ns;
}

// The encoded timeslice is not longer than the request, and no other pair comes closer.
TEST(Timeslice, EncodingIsTheLongestThatIsNotLonger) {
    for (u64 ns = 1024; ns <= longest; ns += ns / 3 + 517) {
        u8 timeout = 0, scale = 0;
        ASSERT_EQ(nvdebug_timeslice_encode(ns, &timeout, &scale), 0);
        const u64 got = nvdebug_timeslice_ns(timeout, scale);
        ASSERT_LE(got, ns);
        for (u32 s = 0; s < 16; s++)
            for (u32 t = 1; t < 256; t++) {
                const u64 other = nvdebug_timeslice_ns(t, s);
                ASSERT_FALSE(other <= ns && other > got) << ns << " " << t << " " << s;
                ASSERT_FALSE(other == got && s < scale) << ns << " " << t << " " << s;
            }
    }
}

TEST(Timeslice, HeaderKeepsItsOtherFields) {
    // id 5, 2 channels: (128, 3) becomes (250, 2) and back
    EXPECT_EQ(nvdebug_entry8_set_timeslice(0x0a00e005, 250, 2), 0x0be8a005u);
    EXPECT_EQ(nvdebug_entry8_set_timeslice(0x0be8a005, 128, 3), 0x0a00e005u);
    EXPECT_EQ(nvdebug_entry16_set_timeslice(0x80030001, 250, 2), 0xfa020001u);
    EXPECT_EQ(nvdebug_entry16_set_timeslice(0xfa020ff1, 128, 3), 0x80030ff1u) << "GFID stays";
    EXPECT_EQ(nvdebug_entry8_set_timeslice(0xffffffff, 0, 0), 0xfc003fffu);
    EXPECT_EQ(nvdebug_entry16_set_timeslice(0xffffffff, 0, 0), 0x00f0ffffu);
    EXPECT_EQ(nvdebug_entry8_set_timeslice(0, 255, 15), 0x03ffc000u);
    EXPECT_EQ(nvdebug_entry16_set_timeslice(0, 255, 15), 0xff0f0000u);
}

} // namespace
