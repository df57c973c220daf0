// SPDX-License-Identifier: MIT OR GPL-2.0
// The requests of `translate`.
#include <gtest/gtest.h>

#include <cerrno>
#include <string>
#include <vector>

#include "decode/translation.h"
#include "hw/ram.h"

namespace {

int parse(const std::string &text, nvdebug_translation *out) {
    // A copy without terminator, so that the sanitizer sees a read past the end.
    const std::vector<char> bytes(text.begin(), text.end());
    return nvdebug_translation_parse(bytes.data(), bytes.size(), out);
}

int parse(const std::string &text) {
    nvdebug_translation ignored;
    return parse(text, &ignored);
}

TEST(Translation, PageDirectoryIsParsed) {
    nvdebug_translation t;
    ASSERT_EQ(parse("0x200100000 0x123456789abcd\n", &t), 0);
    EXPECT_FALSE(t.by_channel);
    EXPECT_EQ(t.pdb, 0x200100000u);
    EXPECT_EQ(t.aperture, NV_APERTURE_VID);
    EXPECT_EQ(t.va, 0x123456789ABCDu);
    EXPECT_EQ(t.version, 0);
    EXPECT_EQ(t.big_page_kib, 0);

    ASSERT_EQ(parse(" 4096:ncoh\t8  v1 128k ", &t), 0);
    EXPECT_EQ(t.pdb, 4096u);
    EXPECT_EQ(t.aperture, NV_APERTURE_NCOH);
    EXPECT_EQ(t.va, 8u);
    EXPECT_EQ(t.version, 1);
    EXPECT_EQ(t.big_page_kib, 128);

    ASSERT_EQ(parse("0x1000:coh 0xffffffffffffffff 64k", &t), 0);
    EXPECT_EQ(t.aperture, NV_APERTURE_COH);
    EXPECT_EQ(t.va, 0xFFFFFFFFFFFFFFFFu);
    EXPECT_EQ(t.big_page_kib, 64);
    ASSERT_EQ(parse("0x1000:vid 0 v2", &t), 0);
    EXPECT_EQ(t.version, 2);
}

TEST(Translation, ChannelIsParsed) {
    nvdebug_translation t;
    ASSERT_EQ(parse("3:0x1f 0x7f0000000000", &t), 0);
    EXPECT_TRUE(t.by_channel);
    EXPECT_EQ(t.runlist, 3u);
    EXPECT_EQ(t.channel, 31u);
    EXPECT_FALSE(t.base);
    ASSERT_EQ(parse("4294967295:9 0", &t), 0);
    EXPECT_EQ(t.runlist, 4294967295u);
    EXPECT_EQ(t.channel, 9u);
    ASSERT_EQ(parse("3:31 0 base", &t), 0);
    EXPECT_TRUE(t.base);
    EXPECT_EQ(t.version, 0);
}

TEST(Translation, JunkIsRefused) {
    for (const char *text : {"",
                             " ",
                             "0x1000",
                             "0x1000 x",
                             "x 0",
                             "0x1001 0x0",
                             "0x1000:disk 0",
                             "0x1000: 0",
                             "0x1000:",
                             ":1 0",
                             ":vid 0",
                             "0x1000:vid:vid 0",
                             "0x1000:vidx 0",
                             "0x1000:vi 0",
                             "0x1000 0 v9",
                             "0x1000 0 v2 v2",
                             "0x1000 0 v1 v2",
                             "0x1000 0 64k 128k",
                             "0x1000 0 base",
                             "0:1 0 v1",
                             "0:1 0 base base",
                             "0:1:2 0",
                             "0:1",
                             "0:-1 0",
                             "-4096 0",
                             "0x1000 0x",
                             "0x1000 0 0",
                             "0x1000 1,2",
                             "0x1000,0"})
        EXPECT_EQ(parse(text), -EINVAL) << text;
}

TEST(Translation, TooLargeNumbersAreRefused) {
    for (const char *text : {"0x10000000000000000 0", "0x1000 0x10000000000000000",
                             "0x1000 18446744073709551616", "0x100000000:0 0", "0:0x100000000 0"})
        EXPECT_EQ(parse(text), -ERANGE) << text;
    EXPECT_EQ(parse("0x1000 18446744073709551615"), 0);
    EXPECT_EQ(parse("0x1000 99999999999999999999x"), -EINVAL) << "junk first";
}

} // namespace
