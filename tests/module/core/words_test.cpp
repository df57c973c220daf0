// SPDX-License-Identifier: MIT OR GPL-2.0
// Words by which the register bus reports a missing answer. They are errors in registers, and data
// in memory where an address may look like them.
#include "bench.hpp"
#include "page_tables.hpp"
#include "text.hpp"

#include <array>
#include <vector>

namespace core {
namespace {

// The upper 12 bits decide. These words differ in the other bits (docs/proc.md, When the hardware
// fails).
constexpr std::array<std::uint32_t, 19> errors{
    0xbad00100, 0xbad00200, 0xbad00f00, 0xbad0ac00, 0xbad0b000, 0xbad0da00, 0xbad0fb00,
    0xbadf0000, 0xbadf0200, 0xbadf1002, 0xbadf1100, 0xbadf1201, 0xbadf1301, 0xbadf2001,
    0xbadf3000, 0xbadf4101, 0xbadf5040, 0xbadf5101, 0xbadf6000};
constexpr std::uint32_t ones = ~0U;
/// These words look nearly like errors, but are none.
constexpr std::array<std::uint32_t, 3> no_errors{0xbacfffff, 0xbae00000, 0xfffffffe};

template <typename... Parts>
std::vector<std::uint32_t> words(const Parts &...parts) {
    std::vector<std::uint32_t> all;
    const auto add = [&](const auto &part) {
        if constexpr (std::is_integral_v<std::decay_t<decltype(part)>>)
            all.push_back(part);
        else
            all.insert(all.end(), part.begin(), part.end());
    };
    (add(parts), ...);
    return all;
}

class Words : public OnBoard {
  protected:
    void expect_error(const std::string &file, const std::string &why) {
        const Text got = bench.read(file);
        EXPECT_EQ(got.error, -EIO) << file << ", " << why;
        EXPECT_EQ(got.text, "") << file << ", " << why;
    }
    void expect_errors(const std::vector<std::string> &files, const std::string &fault) {
        bench.machine.fault("none");
        bench.machine.fault(fault);
        for (const std::string &file : files)
            expect_error(file, fault);
    }
    /// Returns true if the size of video memory is known. If it is not, the memory behind such an
    /// entry is read, and the bus answers with errors.
    bool video_memory_has_an_end() { return bench.since("gtx1060-3gb"); }
    std::vector<std::uint32_t> words_of(const Json &at) {
        return bench.peek(at, 0, at.at("entries").get<std::size_t>() * bench.entry_words());
    }
};

/// All ones in each register mean that the GPU has gone. The test `vanish` in
/// tests/module/kselftest/proc_hostile.c covers that.
TEST_P(Words, ErrorWordsInRegistersFailEachFile) {
    const auto count = [this](const std::string &text) {
        const std::string lines = bench.text("scheduling");
        std::size_t n = 0;
        for (std::size_t at = 0; (at = lines.find(text, at)) != std::string::npos; at++)
            n++;
        return n;
    };
    const std::size_t runlists = count(" on\n");
    for (const std::uint32_t word : errors) {
        expect_errors({"runlist0_brief", "engines", "ptimer"}, "pri-error " + hex(word));
        EXPECT_EQ(count(" unreadable\n"), runlists);
    }
}

TEST_P(Words, ErrorWordsInChannelStateFailTheList) {
    const std::string block = bench.ids_per_runlist() ? "CHRAM" : "PCCSR";
    for (const std::uint32_t word : errors)
        expect_errors({"runlist0"}, "pri-error " + block + " " + hex(word));
    expect_errors({"runlist0"}, "all-ones " + block);
}

/// Words 0 and 2 of an entry have low words of addresses, which may look like errors. The high
/// words 1 and 3 may not.
TEST_P(Words, HighWordsOfAWideEntryAreErrors) {
    if (!bench.wide_entries())
        return;
    const Json at = bench.list();
    const std::vector<std::uint32_t> list = words_of(at);
    std::size_t entry = 0;
    while (entry < list.size() && ((list[entry] & 1) || (list[entry + 2] & 0xfff) != 1))
        entry += 4;
    ASSERT_LT(entry, list.size()) << "no channel 1";
    const std::vector<std::uint32_t> was(list.begin() + static_cast<std::ptrdiff_t>(entry),
                                         list.begin() + static_cast<std::ptrdiff_t>(entry + 4));
    const auto put = [&](const std::vector<std::uint32_t> &now) { bench.poke(at, 4 * entry, now); };
    for (const std::uint32_t word : words(errors, ones, no_errors)) {
        put({was[0], was[1], (word & ~0xfffU) | 1, was[3]});
        for (Box &box : of_kind(boxes(bench.text("runlist0_brief")), "Channel Info")) {
            if (box.number != 1U || !bench.ids_per_runlist())
                continue;
            EXPECT_EQ(std::stoull(box.fields["Instance Block"], nullptr, 16),
                      std::uint64_t{was[3]} << 32 | (word & ~0xfffU));
        }
        put({was[0], was[1], was[2], word});
        // If a register has the channel's instance pointer, this word is not read.
        if (bench.ids_per_runlist() && std::ranges::count(errors, word))
            expect_error("runlist0_brief", hex(word));
        else
            EXPECT_EQ(bench.read("runlist0_brief").error, 0) << hex(word);
        put(was);
    }
}

/// An entry of error codes would be a channel that no list has.
TEST_P(Words, ErrorWordsAreNoChannel) {
    const Json at = bench.list();
    for (const std::uint32_t word : errors) {
        const unsigned id = word & 0xfff;
        if (id >= bench.machine.model().board().channels)
            continue;
        bench.poke(at, 0, std::vector(bench.entry_words(), word));
        const std::string target = (bench.ids_per_runlist() ? "" : "0:") + std::to_string(id);
        EXPECT_EQ(bench.write("disable_channel", target).error, -EIO) << hex(word);
    }
}

TEST_P(Words, ErrorWordsInAShortEntryFailTheList) {
    if (bench.wide_entries())
        return;
    const Json at = bench.list();
    for (const std::uint32_t word : errors) {
        bench.poke(at, 0, std::array{word});
        expect_error("runlist0_brief", hex(word));
    }
    for (const std::uint32_t word : words(no_errors, ones)) {
        bench.poke(at, 0, std::array{word});
        EXPECT_EQ(entries(bench.text("runlist0_brief")).size(),
                  1 + at.at("entries").get<std::size_t>())
            << hex(word);
    }
}

/// The low word of an entry is data, as the model's MMU takes it, in video and in system memory.
TEST_P(Words, LowWordsOfPageTablesAreData) {
    if (!video_memory_has_an_end())
        return;
    bench.machine.restart("page-tables");
    for (Space &space : spaces(bench, bench.layout()))
        for (const std::uint32_t word : words(errors, ones, no_errors)) {
            space.fill_with(std::array{word, 0U});
            space.expect_agreement(0x10000);
        }
}

/// If both words of an entry are errors, the bus did not answer. System memory is not read over the
/// bus.
TEST_P(Words, BothWordsOfAPageTableEntryAreAnError) {
    if (!video_memory_has_an_end())
        return;
    bench.machine.restart("page-tables");
    for (Space &space : spaces(bench, bench.layout()))
        for (const std::uint32_t word : words(errors, ones)) {
            space.fill_with(std::array{word});
            const int wanted = space.directory().at("aperture") == "vid" ? -EIO : 0;
            EXPECT_EQ(bench.write("translate", space.request(0x10000)).error, wanted)
                << hex(word) << ", " << space.directory();
        }
}

/// The word is the high one of the page directory's address. No memory is that large.
TEST_P(Words, ErrorWordsInAnInstanceBlockAreShown) {
    constexpr std::uint64_t high = 129;
    bench.machine.restart("fig6");
    const unsigned first = instances(bench.text("runlist0")).at(0).channel;
    const Json layout = bench.layout();
    for (const Json &channel : layout.at("channels"))
        for (const std::uint32_t word : words(errors, ones)) {
            if (channel.at("runlist") != 0 || channel.at("channel") != first)
                continue;
            bench.poke(channel.at("instance"), 4 * high, std::array{word});
            EXPECT_EQ(instances(bench.text("runlist0")).at(0).fields,
                      (Fields{{"Error", "unreadable"}}))
                << hex(word);
        }
}

/// No word is overwritten, and no error word is written in place of the word that was read.
TEST_P(Words, ErrorWordBeforeAWriteIsNeverRestored) {
    bench.machine.fault("none");
    ASSERT_EQ(bench.write("set_timeslice", "0:0 78.848").error, 0);
    const std::uint64_t usual = bench.machine.model().faults().accesses();
    bench.machine.restart("three-tasks");
    const Json at = bench.list();
    const std::vector<std::uint32_t> before = words_of(at);
    unsigned refused = 0;
    for (std::uint64_t access = 0; access < usual; access++) {
        if (words_of(at) != before)
            bench.machine.restart("three-tasks");
        bench.machine.fault("none");
        bench.machine.fault("wrong-after " + std::to_string(access) + " 0xbad00200");
        const bool failed = bench.write("set_timeslice", "0:0 78.848").error != 0;
        bench.machine.fault("none");
        refused += failed;
        EXPECT_EQ(words_of(at) == before, failed) << access;
    }
    EXPECT_GT(refused, 0U);
}

INSTANTIATE_TEST_SUITE_P(All, Words, testing::ValuesIn(cards), name_of_board);

} // namespace
} // namespace core
