// SPDX-License-Identifier: MIT OR GPL-2.0
// A decoder overwrites its whole output: no byte of the previous contents is left.
#include <array>
#include <cstring>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "decode/context.h"
#include "decode/engine_status.h"
#include "decode/instance.h"
#include "decode/mmu.h"
#include "decode/runlist.h"
#include "decode/translation.h"

namespace {

/// Checks that `decode` gives the same bytes whatever the output had before.
template <typename T, typename Decode>
void expect_whole(Decode decode) {
    T clean, dirty;
    std::memset(&clean, 0, sizeof(clean));
    std::memset(&dirty, 0xa5, sizeof(dirty));
    decode(&clean);
    decode(&dirty);
    EXPECT_EQ(std::memcmp(&clean, &dirty, sizeof(clean)), 0);
}

/// Checks that a failed decode leaves zeros.
template <typename T, typename Decode>
void expect_nothing(Decode decode) {
    T dirty, none;
    std::memset(&none, 0, sizeof(none));
    std::memset(&dirty, 0xa5, sizeof(dirty));
    EXPECT_NE(decode(&dirty), 0);
    EXPECT_EQ(std::memcmp(&dirty, &none, sizeof(none)), 0);
}

TEST(Whole, Statuses) {
    for (const std::uint32_t word : {0U, 0x2005U, 0x1000f001U, 0xffffffffU}) {
        expect_whole<nvdebug_ctx_status>([=](auto *out) { nvdebug_pbdma_status_gk104(word, out); });
        expect_whole<nvdebug_ctx_status>([=](auto *out) { nvdebug_pbdma_status_ga100(word, out); });
    }
}

TEST(Whole, Entries) {
    const std::vector<std::array<std::uint32_t, 4>> entries{
        {0, 0, 0, 0}, {1, 2, 5, 0}, {0x2001, 0, 0, 0}, {0x30, 0, 0x1005, 1}, {~0U, ~0U, ~0U, ~0U}};
    for (const auto &word : entries)
        for (const auto decode :
             {nvdebug_entry8_decode, nvdebug_entry16_decode, nvdebug_entry16_decode_gb10b})
            expect_whole<nvdebug_entry>([&](auto *out) { return decode(word.data(), 4, out); });
    for (const auto decode : {nvdebug_entry8_decode, nvdebug_entry16_decode})
        expect_nothing<nvdebug_entry>([&](auto *out) { return decode(entries[1].data(), 1, out); });
}

TEST(Whole, InstancesAndContexts) {
    const std::vector<std::uint32_t> words(256);
    for (const auto *layout :
         {&nvdebug_instance_gk104, &nvdebug_instance_gm200, &nvdebug_instance_gp100,
          &nvdebug_instance_gv100, &nvdebug_instance_ga100, &nvdebug_instance_gh100}) {
        expect_whole<nvdebug_instance>([&](auto *out) {
            return nvdebug_instance_decode(layout, words.data(), words.size(), out);
        });
        expect_nothing<nvdebug_instance>(
            [&](auto *out) { return nvdebug_instance_decode(layout, words.data(), 1, out); });
    }
    expect_whole<nvdebug_subcontext>(
        [&](auto *out) { return nvdebug_subcontext_decode(3, words.data(), 4, out); });
    expect_nothing<nvdebug_subcontext>(
        [&](auto *out) { return nvdebug_subcontext_decode(3, words.data(), 1, out); });
    for (const auto *layout : {&nvdebug_context_gk104, &nvdebug_context_gp100,
                               &nvdebug_context_gv100, &nvdebug_context_gh100}) {
        expect_nothing<nvdebug_context>(
            [&](auto *out) { return nvdebug_context_decode(layout, words.data(), 1, out); });
        expect_nothing<nvdebug_context>([&](auto *out) {
            return nvdebug_context_decode(layout, words.data(), words.size(), out);
        });
    }
}

TEST(Whole, WalksAndScans) {
    expect_whole<nvdebug_walk>(
        [](auto *out) { nvdebug_walk_start(out, &nvdebug_mmu_gp100, 0x1000, 0, 0x5000); });
    expect_whole<nvdebug_scan>(
        [](auto *out) { nvdebug_scan_start(out, &nvdebug_mmu_gp100, 0x1000, 0, 0, 0, 7); });
    // The walk's entries are written whole, too: first a table, then an empty entry.
    expect_whole<nvdebug_walk>([](auto *out) {
        nvdebug_walk_start(out, &nvdebug_mmu_gp100, 0x1000, 0, 0x5000);
        const std::array<std::uint32_t, 4> table{0x102, 0, 0, 0}, none{};
        nvdebug_walk_feed(out, table.data());
        nvdebug_walk_feed(out, none.data());
    });
}

TEST(Whole, Translations) {
    for (const std::string_view text : {"0x1000 0x2000", "0:2 0x1000 base", "0x1000:coh 5 v2 64k"})
        expect_whole<nvdebug_translation>(
            [=](auto *out) { return nvdebug_translation_parse(text.data(), text.size(), out); });
}

} // namespace
