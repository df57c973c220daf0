// SPDX-License-Identifier: MIT OR GPL-2.0
// Runlist entries in both forms, the places of lists in each scheme of registers, and timeslices.
#include <cerrno>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "decode/runlist.h"

namespace {

using Words = std::vector<std::uint32_t>;
using Decode = int (*)(const u32 *, size_t, nvdebug_entry *);

nvdebug_entry decode(Decode function, const Words &words) {
    nvdebug_entry entry;
    std::memset(&entry, 0xFF, sizeof(entry)); // whatever was there
    EXPECT_EQ(function(words.data(), words.size(), &entry), 0);
    return entry;
}

TEST(Entry8, TsgHeader) {
    // id 5; TYPE bit 13; scale 3 << 14; timeout 128 << 18; length 2 << 26
    const nvdebug_entry entry = decode(nvdebug_entry8_decode, {0x0A00E005, 0});
    EXPECT_EQ(entry.kind, NVDEBUG_ENTRY_TSG);
    EXPECT_EQ(entry.id, 5);
    EXPECT_EQ(entry.scale, 3);
    EXPECT_EQ(entry.timeout, 128);
    EXPECT_EQ(entry.length, 2);
}

TEST(Entry8, TsgHeaderWithEveryFieldFull) {
    const nvdebug_entry entry = decode(nvdebug_entry8_decode, {0xFFFFEFFF, 0});
    EXPECT_EQ(entry.kind, NVDEBUG_ENTRY_TSG);
    EXPECT_EQ(entry.id, 4095);
    EXPECT_EQ(entry.scale, 15);
    EXPECT_EQ(entry.timeout, 255);
    EXPECT_EQ(entry.length, 63);
}

TEST(Entry8, Channel) {
    EXPECT_EQ(decode(nvdebug_entry8_decode, {0x12, 0}).kind, NVDEBUG_ENTRY_CHANNEL);
    EXPECT_EQ(decode(nvdebug_entry8_decode, {0x12, 0}).id, 0x12);
    // nouveau stores the instance block's page there; the hardware ignores it
    EXPECT_EQ(decode(nvdebug_entry8_decode, {0x12, 0x00123456}).kind, NVDEBUG_ENTRY_CHANNEL);
}

TEST(Entry8, Unknown) {
    EXPECT_EQ(decode(nvdebug_entry8_decode, {0x0A00C005, 0}).kind, NVDEBUG_ENTRY_UNKNOWN);
    EXPECT_EQ(decode(nvdebug_entry8_decode, {0x0A00E005, 1}).kind, NVDEBUG_ENTRY_UNKNOWN);
    // A channel entry's bits 31:14 have no meaning.
    EXPECT_EQ(decode(nvdebug_entry8_decode, {0x00004012, 0}).kind, NVDEBUG_ENTRY_UNKNOWN);
    EXPECT_EQ(decode(nvdebug_entry8_decode, {0x80000012, 0}).kind, NVDEBUG_ENTRY_UNKNOWN);
}

TEST(Entry16, TsgHeader) {
    nvdebug_entry entry =
        decode(nvdebug_entry16_decode, {0x80030001, 0x00000002, 0x00000005, 0x00000000});
    EXPECT_EQ(entry.kind, NVDEBUG_ENTRY_TSG);
    EXPECT_EQ(entry.id, 5);
    EXPECT_EQ(entry.scale, 3);
    EXPECT_EQ(entry.timeout, 128);
    EXPECT_EQ(entry.length, 2);
    entry = decode(nvdebug_entry16_decode, {0xFA020001, 0x00000080, 0x00000007, 0x00000000});
    EXPECT_EQ(entry.id, 7);
    EXPECT_EQ(entry.scale, 2);
    EXPECT_EQ(entry.timeout, 250);
    EXPECT_EQ(entry.length, 128);
}

TEST(Entry16, TsgHeaderWithAGuestFunctionId) {
    // GFID 11:4 is defined from Turing on and has no part in the schedule.
    const nvdebug_entry entry =
        decode(nvdebug_entry16_decode, {0x80030FF1, 0x00000002, 0x00000005, 0x00000000});
    EXPECT_EQ(entry.kind, NVDEBUG_ENTRY_TSG);
    EXPECT_EQ(entry.timeout, 128);
}

TEST(Entry16, Channel) {
    // Runqueue 1; instance 0x1_2345_6000 in video memory; USERD in coherent system memory.
    const nvdebug_entry entry =
        decode(nvdebug_entry16_decode, {0x9ABCDE82, 0x00000000, 0x23456012, 0x00000001});
    EXPECT_EQ(entry.kind, NVDEBUG_ENTRY_CHANNEL);
    EXPECT_EQ(entry.id, 0x12);
    EXPECT_EQ(entry.runqueue, 1);
    EXPECT_EQ(entry.inst_aperture, 0);
    EXPECT_EQ(entry.inst, 0x123456000u);
}

TEST(Entry16, ChannelWithItsInstanceInSystemMemory) {
    const nvdebug_entry entry = decode(nvdebug_entry16_decode, {0x00000020, 0, 0xFFFFF7FF, 0xFF});
    EXPECT_EQ(entry.id, 2047);
    EXPECT_EQ(entry.inst_aperture, 2);
    EXPECT_EQ(entry.inst, 0xFFFFFFF000u);
    EXPECT_EQ(decode(nvdebug_entry16_decode, {0x00000030, 0, 0, 0}).inst_aperture, 3);
}

TEST(Entry16Blackwell, TheSubcontextIsNoAddress) {
    // The channel above with subcontext 3: GB10B has it in word 3, GB20C in word 1 too.
    for (std::uint32_t word1 : {0u, 0x0C000000u}) {
        const nvdebug_entry entry =
            decode(nvdebug_entry16_decode_gb10b, {0x9ABCDE82, word1, 0x23456012, 0x0C000001});
        EXPECT_EQ(entry.kind, NVDEBUG_ENTRY_CHANNEL);
        EXPECT_EQ(entry.id, 0x12);
        EXPECT_EQ(entry.runqueue, 1);
        EXPECT_EQ(entry.inst, 0x123456000u);
        EXPECT_EQ(entry.casid, 3);
    }
    const nvdebug_entry full =
        decode(nvdebug_entry16_decode_gb10b, {0x00000000, 0, 0xFFFFF000, 0x87F80001});
    EXPECT_EQ(full.inst, 0x80001FFFFF000u) << "bits 25:20 are nobody's";
    EXPECT_EQ(full.casid, 33);
}

TEST(Entry16Blackwell, TsgHeaderAndDamage) {
    const nvdebug_entry entry =
        decode(nvdebug_entry16_decode_gb10b, {0x80030001, 0x00000002, 0x00000005, 0x00000000});
    EXPECT_EQ(entry.kind, NVDEBUG_ENTRY_TSG);
    EXPECT_EQ(entry.length, 2);
    EXPECT_EQ(entry.casid, 0);
    EXPECT_EQ(decode(nvdebug_entry16_decode_gb10b, {0x80030001, 2, 5, 0x0C000000}).kind,
              NVDEBUG_ENTRY_UNKNOWN);
    EXPECT_EQ(decode(nvdebug_entry16_decode_gb10b, {0x80030001, 2, 5, 0x0C000000}).casid, 0)
        << "of what is unknown nothing is known";
    const std::uint32_t word = 0x12;
    nvdebug_entry none{};
    EXPECT_EQ(nvdebug_entry16_decode_gb10b(&word, 1, &none), -EINVAL);
}

TEST(Entry16, Unknown) {
    for (const Words &words : {Words{0x80030003, 2, 5, 0}, Words{0x80030001, 0x100, 5, 0},
                               Words{0x80030001, 0x80000002, 5, 0}, Words{0x80030001, 2, 0x1005, 0},
                               Words{0x80030001, 2, 0x80000005, 0}, Words{0x80030001, 2, 5, 1},
                               Words{0x80030001, 2, 5, 0x80000000}})
        EXPECT_EQ(decode(nvdebug_entry16_decode, words).kind, NVDEBUG_ENTRY_UNKNOWN);
}

TEST(Entries, NeverReadPastTheEnd) {
    const std::uint32_t word = 0x12;
    nvdebug_entry entry{};
    EXPECT_EQ(nvdebug_entry8_decode(&word, 1, &entry), -EINVAL);
    EXPECT_EQ(nvdebug_entry16_decode(&word, 1, &entry), -EINVAL);
    EXPECT_EQ(nvdebug_entry16_decode(nullptr, 0, &entry), -EINVAL);
    EXPECT_FALSE(nvdebug_entry8_is_pri_error(&word, 1));
    EXPECT_FALSE(nvdebug_entry16_is_pri_error(&word, 1));
}

/// A skipped word is not decoded. Whatever such words are, the entry is the same.
TEST(Entries, SkippedWordsMeanNothing) {
    struct Form {
        std::size_t words, skipped;
        bool (*skip)(const std::uint32_t *, std::size_t);
        int (*decode)(const std::uint32_t *, std::size_t, nvdebug_entry *);
    };
    const Form forms[] = {{2, 1, nvdebug_entry8_skip, nvdebug_entry8_decode},
                          {4, 1, nvdebug_entry16_skip, nvdebug_entry16_decode},
                          {4, 1, nvdebug_entry16_skip, nvdebug_entry16_decode_gb10b},
                          {4, 2, nvdebug_entry16_skip_gv100, nvdebug_entry16_decode}};
    for (const Form &form : forms) {
        const Words channel =
            form.words == 2 ? Words{0x12, 0x7777} : Words{0x300, 0x7777, 0x1012, 0x5};
        const Words tsg = form.words == 2 ? Words{0x2012, 0} : Words{0x1, 0x2, 0x12, 0};
        Words seen = channel;
        std::size_t skipped = 0;
        for (std::size_t i = 0; i < form.words; i++) {
            EXPECT_FALSE(form.skip(tsg.data(), i)) << i;
            if (!form.skip(seen.data(), i))
                continue;
            seen[i] = 0;
            skipped++;
        }
        EXPECT_EQ(skipped, form.skipped);
        nvdebug_entry whole{}, part{};
        EXPECT_EQ(form.decode(channel.data(), form.words, &whole), 0);
        EXPECT_EQ(form.decode(seen.data(), form.words, &part), 0);
        EXPECT_EQ(part.kind, whole.kind);
        EXPECT_EQ(part.id, whole.id);
        EXPECT_EQ(part.runqueue, whole.runqueue);
        EXPECT_EQ(part.casid, whole.casid);
        if (form.skip != nvdebug_entry16_skip_gv100) {
            EXPECT_EQ(part.inst, whole.inst);
        }
    }
}

TEST(Entries, IdsAreInEvenWords) {
    const Words list = {0x300, 0, 0x1012, 0, 0x80030001, 2, 5, 0};
    for (std::size_t i = 0; i < list.size(); i++)
        EXPECT_EQ(nvdebug_entry_skip_all_but_id(list.data(), i), i % 2 == 1) << i;
}

/// The word that would be skipped distinguishes an error code from a low word of an address.
TEST(Entries, SuspectEntriesAreReadWhole) {
    for (const std::size_t at : {0U, 2U}) {
        Words entry = {0x300, 0, 0x1012, 0xBADF1100};
        entry[at] = 0xBADF1100;
        EXPECT_FALSE(nvdebug_entry16_skip_gv100(entry.data(), 3)) << at;
        EXPECT_FALSE(nvdebug_entry_skip_all_but_id(entry.data(), 3)) << at;
    }
    EXPECT_FALSE(nvdebug_entry8_skip(Words{0xBADF1100, 0}.data(), 1));
}

TEST(Entries, PriErrors) {
    const Words error(4, 0xBADF1100), list = {0x9ABCDE82, 0, 0xBADF1012, 0x1};
    EXPECT_TRUE(nvdebug_entry8_is_pri_error(error.data(), 2));
    EXPECT_TRUE(nvdebug_entry16_is_pri_error(error.data(), 4));
    EXPECT_FALSE(nvdebug_entry16_is_pri_error(list.data(), 4)) << "an address may look like one";
    for (std::size_t n = 0; n < 4; n++) {
        Words one(4, 0);
        one[n] = 0xBADF1100;
        EXPECT_EQ(nvdebug_entry8_is_pri_error(one.data(), 2), n < 2) << n;
        EXPECT_EQ(nvdebug_entry16_is_pri_error(one.data(), 4), n % 2 == 1) << n;
    }
}

std::vector<nvdebug_entry> list(std::initializer_list<int> lengths_and_channels) {
    // A positive number makes a TSG that announces so many channels, 0 a channel, and -1 an unknown
    // entry.
    std::vector<nvdebug_entry> entries;
    for (int item : lengths_and_channels) {
        nvdebug_entry entry{};
        entry.kind = item > 0    ? NVDEBUG_ENTRY_TSG
                     : item == 0 ? NVDEBUG_ENTRY_CHANNEL
                                 : NVDEBUG_ENTRY_UNKNOWN;
        entry.length = item > 0 ? static_cast<u16>(item) : 0;
        entries.push_back(entry);
    }
    return entries;
}

TEST(TsgMembers, EndAtTheAnnouncedCountOrEarlier) {
    const auto whole = list({2, 0, 0, 0});
    EXPECT_EQ(nvdebug_tsg_members(whole.data(), whole.size(), 0), 2u);
    EXPECT_EQ(nvdebug_tsg_members(whole.data(), whole.size(), 1), 0u) << "not a TSG";
    EXPECT_EQ(nvdebug_tsg_members(whole.data(), whole.size(), 4), 0u) << "at the end";
    EXPECT_EQ(nvdebug_tsg_members(whole.data(), whole.size(), 9), 0u) << "past the end";
    const auto cut = list({2, 0, 0, 5, 0, 0});
    EXPECT_EQ(nvdebug_tsg_members(cut.data(), cut.size(), 3), 2u);
    const auto early = list({3, 0, 1, 0});
    EXPECT_EQ(nvdebug_tsg_members(early.data(), early.size(), 0), 1u);
    const auto odd = list({3, 0, -1, 0});
    EXPECT_EQ(nvdebug_tsg_members(odd.data(), odd.size(), 0), 1u);
    const auto last = list({1});
    EXPECT_EQ(nvdebug_tsg_members(last.data(), last.size(), 0), 0u);
}

TEST(Location, PascalAndVolta) {
    nvdebug_runlist_location location{};
    nvdebug_runlist_location_gk104(0x20012345, 0x00100009, &location);
    EXPECT_EQ(location.addr, 0x12345000u);
    EXPECT_EQ(location.aperture, 2);
    EXPECT_EQ(location.entries, 9u);
    EXPECT_TRUE(location.pending);
    nvdebug_runlist_location_gk104(0x0FFFFFFF, 0x0000FFFF, &location);
    EXPECT_EQ(location.addr, 0xFFFFFFF000u);
    EXPECT_EQ(location.entries, 65535u);
    EXPECT_FALSE(location.pending);
}

TEST(Location, TuringAndNewer) {
    nvdebug_runlist_location location{};
    nvdebug_runlist_location_tu102(0x12345003, 0xFFFFFF02, 0x00070009, 0x0000C005, 0xFFFFF000, 0xFF,
                                   &location);
    EXPECT_EQ(location.addr, 0x212345000u) << "HI holds address bits 39:32 in 7:0";
    EXPECT_EQ(location.aperture, 3);
    EXPECT_EQ(location.entries, 9u) << "OFFSET in 31:16 is not part of the length";
    EXPECT_TRUE(location.pending);
    // GA10x aligns to 1 KiB: bits 11:10 belong to the address.
    nvdebug_runlist_location_tu102(0x12345C00, 0, 1, 0x00004005, 0xFFFFFC00, 0xFF, &location);
    EXPECT_EQ(location.addr, 0x12345C00u);
    EXPECT_FALSE(location.pending);
}

TEST(Location, Blackwell) {
    // GB10x: 1 KiB and address bits 51:32 in 19:0; GB20x: 256 bytes.
    nvdebug_runlist_location location{};
    nvdebug_runlist_location_tu102(0x12345F02, 0xFFF81234, 3, 0, 0xFFFFFC00, 0xFFFFF, &location);
    EXPECT_EQ(location.addr, 0x8123412345C00u);
    EXPECT_EQ(location.aperture, 2);
    nvdebug_runlist_location_tu102(0x12345F02, 0x000FFFFF, 3, 0, 0xFFFFFF00, 0xFFFFF, &location);
    EXPECT_EQ(location.addr, 0xFFFFF12345F00u);
}

TEST(Location, SameMeansNotMoved) {
    const nvdebug_runlist_location location{0x1000, 9, 0, false};
    nvdebug_runlist_location other = location;
    other.pending = true;
    EXPECT_TRUE(nvdebug_runlist_location_same(&location, &other));
    other = location;
    other.addr = 0x2000;
    EXPECT_FALSE(nvdebug_runlist_location_same(&location, &other));
    other = location;
    other.entries = 8;
    EXPECT_FALSE(nvdebug_runlist_location_same(&location, &other));
    other = location;
    other.aperture = 2;
    EXPECT_FALSE(nvdebug_runlist_location_same(&location, &other));
}

TEST(Timeslice, Nanoseconds) {
    EXPECT_EQ(nvdebug_timeslice_ns(128, 3), 1048576u);
    EXPECT_EQ(nvdebug_timeslice_ns(250, 2), 1024000u);
    EXPECT_EQ(nvdebug_timeslice_ns(244, 3), 1998848u);
    EXPECT_EQ(nvdebug_timeslice_ns(1, 0), 1024u);
    EXPECT_EQ(nvdebug_timeslice_ns(0, 0), 1024u) << "zero is one unit";
    EXPECT_EQ(nvdebug_timeslice_ns(0, 3), 1024u) << "whatever the scale";
    EXPECT_EQ(nvdebug_timeslice_ns(255, 15), 8556380160u);
}

TEST(Aperture, Names) {
    EXPECT_STREQ(nvdebug_aperture_name(0), "vid");
    EXPECT_STREQ(nvdebug_aperture_name(1), "invalid");
    EXPECT_STREQ(nvdebug_aperture_name(2), "coh");
    EXPECT_STREQ(nvdebug_aperture_name(3), "ncoh");
}

// Every field has its end bits set and ones all around it, so that a mask that is a bit too narrow
// or too wide shows.
TEST(Entries, FieldsAmongOnes) {
    nvdebug_entry entry = decode(nvdebug_entry8_decode, {0x86063801, 0});
    EXPECT_EQ(entry.id, 0x801);
    EXPECT_EQ(entry.scale, 8);
    EXPECT_EQ(entry.timeout, 0x81);
    EXPECT_EQ(entry.length, 0x21);
    entry = decode(nvdebug_entry8_decode, {0x1801, 0xFFFFFFFF});
    EXPECT_EQ(entry.kind, NVDEBUG_ENTRY_CHANNEL);
    EXPECT_EQ(entry.id, 0x801);

    entry = decode(nvdebug_entry16_decode, {0x81F8FFFD, 0x81, 0x801, 0});
    EXPECT_EQ(entry.kind, NVDEBUG_ENTRY_TSG);
    EXPECT_EQ(entry.scale, 8);
    EXPECT_EQ(entry.timeout, 0x81);
    EXPECT_EQ(entry.length, 0x81);
    EXPECT_EQ(entry.id, 0x801);
    entry = decode(nvdebug_entry16_decode, {0xFFFFFFEC, 0xFFFFFFFF, 0x80001801, 0x80000001});
    EXPECT_EQ(entry.kind, NVDEBUG_ENTRY_CHANNEL);
    EXPECT_EQ(entry.runqueue, 0);
    EXPECT_EQ(entry.inst_aperture, 2);
    EXPECT_EQ(entry.id, 0x801);
    EXPECT_EQ(entry.inst, 0x8000000180001000u);
}

TEST(Location, FieldsAmongOnes) {
    nvdebug_runlist_location location{};
    nvdebug_runlist_location_gk104(0xE8000001, 0xFFEF8001, &location);
    EXPECT_EQ(location.addr, 0x8000001000u);
    EXPECT_EQ(location.aperture, 2);
    EXPECT_EQ(location.entries, 0x8001u);
    EXPECT_FALSE(location.pending);
    nvdebug_runlist_location_tu102(0x80001FFE, 0xFFFFFF81, 0xFFFF8001, 0xFFFF7FFF, 0xFFFFF000, 0xFF,
                                   &location);
    EXPECT_EQ(location.addr, 0x8180001000u);
    EXPECT_EQ(location.aperture, 2);
    EXPECT_EQ(location.entries, 0x8001u);
    EXPECT_FALSE(location.pending);
}

} // namespace
