// SPDX-License-Identifier: MIT OR GPL-2.0
// Runlist entries as words, and submits of lists in each generation's way.
#include "support.hpp"

#include "host/group.hpp"

#include <set>

namespace nvmodel::test {
namespace {

using Words = std::vector<std::uint32_t>;

const Generation &generation(const char *name) {
    return *find_generation(name);
}

TEST(Entries, EightBytes) {
    EXPECT_EQ(encode_header(EntryFormat::words2, 5, {128, 3}, 2), (Words{0x0a00e005, 0}));
    EXPECT_EQ(encode_channel(EntryFormat::words2, {0x12, 0, {}, {}}), (Words{0x12, 0}));
}

TEST(Entries, SixteenBytes) {
    EXPECT_EQ(encode_header(EntryFormat::words4, 5, {128, 3}, 2), (Words{0x80030001, 2, 5, 0}));
    EXPECT_EQ(encode_header(EntryFormat::words4, 7, {250, 2}, 128),
              (Words{0xfa020001, 0x80, 7, 0}));
    EXPECT_EQ(encode_channel(EntryFormat::words4, {.id = 0x12,
                                                   .runqueue = 1,
                                                   .instance = {Aperture::video, 0x1'2345'6000},
                                                   .userd = {Aperture::coherent, 0x9abcde00}}),
              (Words{0x9abcde82, 0, 0x23456012, 1}));
}

TEST(Entries, BlackwellsHaveSubcontexts) {
    const ListedChannel channel{.id = 0x12,
                                .runqueue = 1,
                                .instance = {Aperture::video, 0x1'2345'6000},
                                .userd = {Aperture::coherent, 0x9abcde00},
                                .subcontext = 3};
    const Words gb10b{0x9abcde82, 0, 0x23456012, 0x0c000001};
    const Words gb20c{0x9abcde82, 0x0c000000, 0x23456012, 0x0c000001};
    EXPECT_EQ(encode_channel(EntryFormat::words4_gb10b, channel), gb10b);
    EXPECT_EQ(encode_channel(EntryFormat::words4_gb20c, channel), gb20c);
    for (const auto &[name, words] :
         std::map<const char *, Words>{{"blackwell-gb10x", gb10b}, {"blackwell-gb20x", gb20c}}) {
        Words list{0x80030001, 1, 5, 0};
        list.insert(list.end(), words.begin(), words.end());
        const DecodedList decoded = decode_list(generation(name), list);
        ASSERT_EQ(decoded.groups.size(), 1U);
        EXPECT_EQ(decoded.groups[0].channels.at(0).instance, channel.instance) << name;
        EXPECT_EQ(decoded.groups[0].channels.at(0).userd, channel.userd) << name;
        EXPECT_EQ(decoded.groups[0].channels.at(0).subcontext, 3U) << name;
    }
}

TEST(Entries, DecodeEightBytes) {
    const Words list{0x0a00e005, 0, 0x12, 0x99, 0x13, 0, 0x14, 0};
    const DecodedList decoded = decode_list(generation("pascal"), list);
    EXPECT_EQ(decoded.bad, BadTsg::none);
    ASSERT_EQ(decoded.groups.size(), 2U);
    EXPECT_EQ(decoded.groups[0].id, (GroupId{true, 5}));
    EXPECT_EQ(decoded.groups[0].timeslice, (Timeslice{128, 3}));
    ASSERT_EQ(decoded.groups[0].channels.size(), 2U);
    EXPECT_EQ(decoded.groups[0].channels[1].id, 0x13U);
    EXPECT_EQ(decoded.groups[1].id, (GroupId{false, 0x14})) << "a bare channel";
    EXPECT_EQ(decoded.groups[1].entry, 3U);
}

TEST(Entries, DecodeSixteenBytes) {
    const Words list{0x80030001, 1, 5, 0, 0x9abcde82, 0, 0x23456012, 1};
    const DecodedList decoded = decode_list(generation("ada"), list);
    ASSERT_EQ(decoded.groups.size(), 1U);
    const ListedChannel &channel = decoded.groups[0].channels.at(0);
    EXPECT_EQ(channel.id, 0x12U);
    EXPECT_EQ(channel.runqueue, 1U);
    EXPECT_EQ(channel.instance, (PhysicalAddress{Aperture::video, 0x1'2345'6000}));
    EXPECT_EQ(channel.userd, (PhysicalAddress{Aperture::coherent, 0x9abcde00}));
}

TEST(Entries, MalformedEntriesEndDecoding) {
    const Words header{0x80030001, 1, 5, 0};
    const Words channel{0, 0, 0x12, 0};
    const auto join_words = [](std::initializer_list<Words> parts) {
        Words all;
        for (const Words &part : parts)
            all.insert(all.end(), part.begin(), part.end());
        return all;
    };
    const auto bad = [&](const Words &words) {
        const DecodedList decoded = decode_list(generation("volta"), words);
        return std::pair(decoded.bad, decoded.groups.size());
    };
    using Result = std::pair<BadTsg, std::size_t>;
    EXPECT_EQ(bad({}), Result(BadTsg::none, 0));
    EXPECT_EQ(bad(join_words({header, channel})), Result(BadTsg::none, 1));
    EXPECT_EQ(bad(join_words({header, channel, channel})), Result(BadTsg::expected_header, 1));
    EXPECT_EQ(bad(join_words({header, header})), Result(BadTsg::expected_channel, 0));
    EXPECT_EQ(bad(header), Result(BadTsg::runlist_overflow, 0));
    EXPECT_EQ(bad(join_words({header, channel, {0x80030001, 0, 6, 0}})),
              Result(BadTsg::zero_length, 1));
    EXPECT_EQ(bad(join_words({header, channel, {0x80030001, 129, 6, 0}})),
              Result(BadTsg::max_length, 1));
    const DecodedList pascal = decode_list(generation("pascal"), Words{0x84002005, 0}); // 33
    EXPECT_EQ(pascal.bad, BadTsg::max_length);
}

class Submitted : public testing::TestWithParam<const char *> {
  protected:
    /// The place of runlist 0 in its registers.
    struct Where {
        PhysicalAddress base;
        unsigned length;
        bool pending;
    };
    static Where where(Bench &bench) {
        const Board &board = bench.gpu.board();
        if (board.generation->submit == SubmitScheme::shared_port) {
            const std::uint32_t base = bench.read(0x2280);
            const std::uint32_t list = bench.read(0x2284);
            return {{static_cast<Aperture>(base >> 28 & 3), std::uint64_t{base & 0xfffffff} << 12},
                    list & 0xffff,
                    (list >> 20 & 1) != 0};
        }
        const bool turing = board.generation->submit == SubmitScheme::pfifo_array;
        const std::uint32_t at = turing ? 0x2b00 : bench.runlist_register(0x80);
        const std::uint32_t mask = ~((1U << board.generation->runlist_base_shift) - 1);
        const std::uint32_t lo = bench.read(at);
        return {{static_cast<Aperture>(lo & 3), join(bench.read(at + 4), lo & mask)},
                bench.read(at + 8) & 0xffff,
                (bench.read(at + 12) >> 15 & 1) != 0};
    }

    static Words entries(Bench &bench, const Where &list) {
        Words words;
        const unsigned count = list.length * entry_size(bench.gpu.board().generation->entry) / 4;
        for (unsigned i = 0; i < count; ++i)
            words.push_back(bench.peek({list.base.aperture, list.base.address + 4 * i}));
        return words;
    }
};

TEST_P(Submitted, ListIsWhereTheRegistersSay) {
    auto bench = Bench::started(GetParam(), "three-tasks");
    const Where list = where(*bench);
    EXPECT_EQ(list.base.aperture, bench->default_aperture());
    EXPECT_EQ(list.length, 9U);
    EXPECT_FALSE(list.pending);
    EXPECT_EQ(list.base.address % (1U << bench->gpu.board().generation->runlist_base_shift), 0U);
    const DecodedList decoded = decode_list(*bench->gpu.board().generation, entries(*bench, list));
    EXPECT_EQ(decoded.bad, BadTsg::none);
    ASSERT_EQ(decoded.groups.size(), 3U);
    for (unsigned tsg = 0; tsg < 3; ++tsg) {
        EXPECT_EQ(decoded.groups[tsg].id, (GroupId{true, tsg}));
        EXPECT_EQ(decoded.groups[tsg].timeslice, (Timeslice{244, 3}));
        EXPECT_EQ(decoded.groups[tsg].channels.at(0).id, 2 * tsg);
        EXPECT_EQ(decoded.groups[tsg].channels.at(1).id, 2 * tsg + 1);
    }
    bench->expect_no_violations();
}

class SubmittedToCard : public Submitted {};

TEST_P(SubmittedToCard, ListIsBeyondTheBarsUnlessPlacedLow) {
    auto bench = Bench::started(GetParam(), "three-tasks");
    const Where list = where(*bench);
    EXPECT_GE(list.base.address, bench->gpu.board().bar1.modelled);
    const std::uint64_t window =
        std::uint64_t{bench->read(bench->gpu.board().generation->window_register) & 0xffffff} << 16;
    EXPECT_EQ(window, bench->gpu.board().video_bytes - (1 << 20)) << "parked as drivers do";
    EXPECT_LT(list.base.address, window);
    auto low = Bench::started(GetParam(), "low");
    EXPECT_LT(where(*low).base.address, bench->gpu.board().bar2.modelled);
    EXPECT_EQ(low->gpu.bar_read(Bar::instance, where(*low).base.address, 4),
              low->peek(where(*low).base));
}

TEST_P(Submitted, SystemMemory) {
    auto bench = Bench::started(GetParam(), "sysmem");
    const Where list = where(*bench);
    EXPECT_EQ(list.base.aperture, bench->system_aperture());
    EXPECT_GE(list.base.address, sysmem_range.base);
    const DecodedList decoded = decode_list(*bench->gpu.board().generation, entries(*bench, list));
    ASSERT_EQ(decoded.groups.size(), 3U);
    EXPECT_EQ(bench->gpu.chip().host().channel(4).instance.aperture, bench->system_aperture());
    bench->advance_us(60'000);
    for (const auto &[task, done] : bench->progress())
        EXPECT_NEAR(done, 20'000, 1'100) << task << ": it runs from there";
    bench->expect_no_violations();
}

TEST_P(Submitted, ResubmitTakesAFreshCopyElsewhere) {
    auto bench = Bench::started(GetParam(), "three-tasks");
    const Where before = where(*bench);
    const Words words = entries(*bench, before);
    bench->gpu.resubmit(0);
    const Where after = where(*bench);
    EXPECT_TRUE(after.pending);
    EXPECT_NE(after.base.address, before.base.address);
    EXPECT_EQ(entries(*bench, after), words);
    bench->advance_us(20);
    EXPECT_FALSE(where(*bench).pending) << "that is longer than the fetch";
    EXPECT_EQ(config_error([&] { bench->gpu.resubmit(77); }),
              "board " + std::string(GetParam()) + " has no runlist 77");
}

TEST_P(SubmittedToCard, EmptyRunlistCannotBeResubmitted) {
    auto bench = Bench::started(GetParam(), "three-tasks");
    EXPECT_EQ(config_error([&] { bench->gpu.resubmit(3); }),
              "the workload has nothing on runlist 3");
}

TEST_P(Submitted, EachVersionHasItsMark) {
    auto bench = Bench::started(GetParam(), "three-tasks");
    const Generation &generation = *bench->gpu.board().generation;
    std::set<std::uint64_t> places{where(*bench).base.address};
    for (unsigned version = 1; version <= 62; ++version) {
        const Where left = where(*bench);
        EXPECT_EQ(bench->gpu.rotate(0), version);
        const DecodedList next = decode_list(generation, entries(*bench, left));
        EXPECT_EQ(next.groups.at(0).timeslice, (Timeslice{version + 1, 3}));
        const Where list = where(*bench);
        EXPECT_TRUE(places.insert(list.base.address).second) << "elsewhere each time";
        const DecodedList decoded = decode_list(generation, entries(*bench, list));
        EXPECT_EQ(decoded.bad, BadTsg::none);
        ASSERT_EQ(decoded.groups.size(), 3U);
        for (unsigned i = 0; i < 3; ++i) {
            const unsigned tsg = (i + version) % 3;
            EXPECT_EQ(decoded.groups[i].id, (GroupId{true, tsg}));
            EXPECT_EQ(decoded.groups[i].timeslice, (Timeslice{version, 3}));
            EXPECT_EQ(decoded.groups[i].channels.at(0).id, 2 * tsg);
        }
    }
    EXPECT_GT(bench->gained(60'000)["task3"], 1'000) << "Host takes it like any list";
    const Words words = entries(*bench, where(*bench));
    bench->gpu.resubmit(0);
    EXPECT_EQ(entries(*bench, where(*bench)), words) << "the version stays";
    bench->expect_no_violations();
}

TEST_P(Submitted, VersionsRestartAfterWholeTurns) {
    auto bench = Bench::started(GetParam(), "many-64");
    for (unsigned version = 1; version <= 240; ++version)
        EXPECT_EQ(bench->gpu.rotate(0), version);
    EXPECT_EQ(bench->gpu.rotate(0), 1U);
}

TEST_P(Submitted, PendingLastsAsLongAsTheFetch) {
    auto bench = Bench::started(GetParam(), "three-tasks");
    bench->gpu.resubmit(0);
    unsigned polls = 0;
    while (where(*bench).pending && polls < 100)
        ++polls;
    EXPECT_GE(polls, 1U);
    EXPECT_LE(polls, 10U) << "10 us, several accesses for each look";
}

INSTANTIATE_TEST_SUITE_P(Boards, Submitted, testing::ValuesIn(boards), test_name);
INSTANTIATE_TEST_SUITE_P(Cards, SubmittedToCard, testing::ValuesIn(cards), test_name);

TEST(SubmitPort, SharedByAllRunlists) {
    Bench bench("gtx1060-3gb", "idle");
    bench.write(0x2270, 0x20000123);
    EXPECT_EQ(bench.read(0x2270), 0x20000123U);
    EXPECT_EQ(bench.read(0x2280), 0U) << "latched, not submitted";
    bench.write(0x2274, 0x00500000); // empty list to runlist 5
    EXPECT_EQ(bench.read(0x2280 + 8 * 5), 0x20000123U);
    EXPECT_EQ(bench.read(0x2284 + 8 * 5), 0x00100000U) << "pending, length 0";
    EXPECT_EQ(bench.read(0x2280), 0U);
    bench.advance_us(20);
    EXPECT_EQ(bench.read(0x2284 + 8 * 5), 0U);
    bench.write(0x2274, 0x00f00001); // there is no such runlist
    bench.expect_no_violations();
}

TEST(SubmitBlock, BaseKeepsTheBitsTheChipHas) {
    Bench ga100("a100", "idle");
    ga100.write(0xd00080, 0xffffffff);
    EXPECT_EQ(ga100.read(0xd00080), 0xfffff003U);
    ga100.write(0xd00084, 0xffffffff);
    EXPECT_EQ(ga100.read(0xd00084), 0xffU);
    Bench ada("rtx6000-ada", "idle");
    ada.write(0xd00080, 0xffffffff);
    EXPECT_EQ(ada.read(0xd00080), 0xfffffc03U);
    Bench turing("rtx2080ti", "idle");
    turing.write(0x2b00, 0xffffffff);
    EXPECT_EQ(turing.read(0x2b00), 0xfffff003U);
}

TEST(SubmitBlock, AdaListsAreNotOnPageBoundaries) {
    auto bench = Bench::started("rtx6000-ada", "three-tasks");
    EXPECT_EQ(bench->read(0xd00080) & 0xfff, 0x400U) << "readers must keep bits 11:10";
}

TEST(Block, ConfigRegistersDescribeTheRunlist) {
    Bench bench("a100", "idle");
    EXPECT_EQ(bench.read(0xd00000), 0x10U);
    EXPECT_EQ(bench.read(0xd00004), 0x00e0000bU); // channel RAM, 2^11 channels
    EXPECT_EQ(bench.read(0xd01004), 0x00e0200bU);
    EXPECT_EQ(bench.read(0xd11008), 17U << 16);
    EXPECT_EQ(bench.read(0xd00010), 0x80040000U); // PBDMA 0
    EXPECT_EQ(bench.read(0xd00014), 0x80040801U); // PBDMA 1
    EXPECT_EQ(bench.read(0xd01010), 0x80041002U); // PBDMA 2
    EXPECT_EQ(bench.read(0xd01014), 0U);          // it has no second one
    EXPECT_EQ(bench.read(0xd00020), 0x8U);
    EXPECT_EQ(bench.read(0xd00024), 0x50U);
    EXPECT_EQ(bench.read(0xd00108), 0x300U);
    EXPECT_EQ(bench.read(0xd00220), 0x803fffffU);
    EXPECT_EQ(bench.read(0xd00300), 0x7ffU);
    EXPECT_EQ(bench.read(0xd00204 + 0x40) >> 16 & 0x1f, 24U); // LCE0's interrupt
    bench.expect_no_violations();
}

TEST(Pfifo, ConfigRegistersDescribeHost) {
    Bench volta("titan-v", "idle");
    EXPECT_EQ(volta.read(0x2004), 0x0020000eU); // 14 PBDMAs, fault ids from 32
    EXPECT_EQ(volta.read(0x2008), 4096U);
    EXPECT_EQ(volta.read(0x200c), 0xc36fU);
    EXPECT_EQ(volta.read(0x2390), 0x1U);
    EXPECT_EQ(volta.read(0x2394), 0x1U); // two PBDMAs for runlist 0
    EXPECT_EQ(volta.read(0x2398), 0x2U);
    Bench turing("rtx2080ti", "idle");
    EXPECT_EQ(turing.read(0x200c), 0xc46fU);
    EXPECT_EQ(turing.read(0x3400), 0x300U);
    Bench pascal("gtx1060-3gb", "idle");
    EXPECT_EQ(pascal.read(0x2004), 4U);
    EXPECT_EQ(pascal.read(0x2394), 0x1eU); // PBDMA 1 serves runlists 1 to 4
    for (Bench *bench : {&volta, &turing, &pascal})
        bench->expect_no_violations();
}

TEST(Pfifo, DefaultTimeslices) {
    Bench kepler("quadro-k5000", "idle");
    EXPECT_EQ(kepler.read(0x2310), 0x10003080U);
    EXPECT_EQ(kepler.read(0x2310 + 4 * 6), 0x10003080U);
    EXPECT_EQ(kepler.read(0x2350 + 4 * 2), 0x10000010U);
    EXPECT_EQ(kepler.read(0x262c), 0U);
    kepler.write(0x2310, 0x10001040);
    EXPECT_EQ(kepler.read(0x2310), 0x10001040U);
    kepler.expect_no_violations();
    Bench pascal("gtx1080ti", "idle");
    EXPECT_EQ(pascal.read(0x2350), 0x10000010U);
    pascal.expect_no_violations();
    EXPECT_EQ(pascal.read(0x2310), 0xbadf5040U);
}

TEST(Malformed, ListIsReportedAndSoundTasksGoOn) {
    auto volta = Bench::started("titan-v", "malformed");
    EXPECT_EQ(volta->read(0x2100), 0x100U);
    EXPECT_EQ(volta->read(0x254c), 0x20U);
    volta->write(0x2100, 0x100);
    EXPECT_EQ(volta->read(0x2100), 0U);
    EXPECT_EQ(volta->read(0x254c), 0U);
    auto ampere = Bench::started("a100", "malformed");
    EXPECT_EQ(ampere->read(0xd00174), 5U) << "a bare channel where a header was due";
    EXPECT_EQ(ampere->read(0xd01174), 1U) << "a TSG without channels";
    EXPECT_EQ(ampere->read(0xd00100) & 0x1000, 0x1000U);
    ampere->write(0xd00100, 0x1000);
    EXPECT_EQ(ampere->read(0xd00100) & 0x1000, 0U);
    for (Bench *bench : {volta.get(), ampere.get()}) {
        bench->advance_us(10'000);
        const auto done = bench->progress();
        EXPECT_GT(done.at("sound"), 9'000);
        EXPECT_EQ(done.at("bare"), 0);
        EXPECT_EQ(done.at("cut-short"), 0);
        EXPECT_EQ(done.at("no-channels"), 0);
        bench->expect_no_violations();
    }
}

TEST(Malformed, BareChannelsRunOnPascal) {
    auto bench = Bench::started("gtx1060-3gb", "malformed");
    bench->advance_us(60'000);
    const auto done = bench->progress();
    EXPECT_GT(done.at("bare"), 15'000);
    EXPECT_GT(done.at("sound"), 30'000);
    // The timeslice of a bare channel is in its instance block: the default, 1048.576 us.
    EXPECT_NEAR(done.at("bare") / done.at("sound"), 1048.576 / 1998.848, 0.02);
}

} // namespace
} // namespace nvmodel::test
