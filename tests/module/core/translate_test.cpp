// SPDX-License-Identifier: MIT OR GPL-2.0
// The answers of `translate`, letter by letter, for page tables of each version that are written
// down by hand.
#include "bench.hpp"
#include "page_tables.hpp"
#include "text.hpp"

extern "C" {
#include "hw/ramin.h"
}
#include <linux/capability.h>

#include <array>
#include <map>
#include <set>
#include <sstream>

namespace core {
namespace {

constexpr std::uint64_t pdb = 0x200100000;
constexpr const char *va = "0x123456789abcd";

class Translate : public testing::Test {
  protected:
    explicit Translate(const std::string &board, const std::string &workload = "three-tasks")
        : bench(board, workload) {}
    ~Translate() override {
        shim.lacks = 0;
        shim.locked_down = false;
    }

    /// Writes an entry of 64 bits, or of 128 bits with its high half.
    void put(std::uint64_t address, std::uint64_t low, const std::string &aperture = "vid") {
        bench.poke(
            {{"address", hex(address)}, {"aperture", aperture}}, 0,
            std::array{static_cast<std::uint32_t>(low), static_cast<std::uint32_t>(low >> 32)});
    }
    void put(std::uint64_t address, std::uint64_t low, std::uint64_t high) {
        put(address, low);
        put(address + 8, high);
    }
    Text ask(const std::string &request) { return bench.write("translate", request); }
    void expect(const std::string &request, const std::string &answer) {
        const Text got = ask(request);
        EXPECT_EQ(got.error, 0) << request;
        EXPECT_EQ(got.text, answer) << request;
    }

    Bench bench;
};

// --- version 2 ---

/// PD3 to PD0 are at `pdb` and the next pages. PT64K and PT4K are where PD0's entry points.
class Version2 : public Translate {
  protected:
    Version2() : Translate("titan-v") {
        put(pd3, 0x20010102);
        put(pd2, 0x20010202);
        put(pd1, 0x20010302);
        put(pd0, 0x20010412, 0x20010502);
        put(big, 0);
        put(small, 0);
    }
    /// Returns the answer's lines up to the entry number `count`.
    [[nodiscard]] static std::string lines(int count) {
        static const std::array<std::string, 6> all{
            std::string("virtual_address: ") + va +
                "\npage_directory: 0x200100000 vid\npage_tables: 2\n",
            "PD3[2]: 0x200100010 vid 0x0000000020010102 table 0x200101000 vid\n",
            "PD2[141]: 0x200101468 vid 0x0000000020010202 table 0x200102000 vid\n",
            "PD1[43]: 0x200102158 vid 0x0000000020010302 table 0x200103000 vid\n",
            "PD0[60]: 0x2001033c0 vid 0x00000000200105020000000020010412 big 0x200104100 vid small "
            "0x200105000 vid\n",
            "PT64K[9]: 0x200104148 vid 0x0000000000000000 invalid\n"};
        std::string text;
        for (int i = 0; i <= count; i++)
            text += all.at(static_cast<std::size_t>(i));
        return text;
    }
    /// Expects that `entry` is the last line, and that `error` is the reason for which there is no
    /// page.
    void expect_end(int count, const std::string &entry, const std::string &error) {
        expect(request, lines(count) + entry +
                            "\nresult: -\npage_size: -\nflags: -\nerror: " + error + "\n");
    }
    void expect_page(int count, const std::string &entry, const std::string &result,
                     const std::string &size, const std::string &flags) {
        expect(request, lines(count) + entry + "\nresult: " + result + "\npage_size: " + size +
                            "\nflags: " + flags + "\nerror: -\n");
    }

    static constexpr std::uint64_t pd3 = 0x200100010, pd2 = 0x200101468, pd1 = 0x200102158,
                                   pd0 = 0x2001033c0, big = 0x200104148, small = 0x2001054d0;
    const std::string request = hex(pdb) + " " + va;
};

TEST_F(Version2, SmallPageIsFound) {
    put(small, 0x7f65430d);
    expect_page(5, "PT4K[154]: 0x2001054d0 vid 0x000000007f65430d page 0x7f6543000 coh",
                "0x7f6543bcd coh", "4096", "volatile");
    put(small, 0x21000001);
    expect_page(5, "PT4K[154]: 0x2001054d0 vid 0x0000000021000001 page 0x210000000 vid",
                "0x210000bcd vid", "4096", "-");
    put(small, 0x210000e1);
    expect_page(5, "PT4K[154]: 0x2001054d0 vid 0x00000000210000e1 page 0x210000000 vid",
                "0x210000bcd vid", "4096", "privileged read-only no-atomics");
    put(small, 0xfe00001021000001);
    expect_page(5, "PT4K[154]: 0x2001054d0 vid 0xfe00001021000001 page 0x210000000 vid",
                "0x210000bcd vid", "4096", "compressed kind=254");
    put(small, 0xfe00000021000001);
    expect_page(5, "PT4K[154]: 0x2001054d0 vid 0xfe00000021000001 page 0x210000000 vid",
                "0x210000bcd vid", "4096", "kind=254");
}

TEST_F(Version2, PageOfAnotherGpuIsFound) {
    put(small, 0x612345603);
    expect_page(5, "PT4K[154]: 0x2001054d0 vid 0x0000000612345603 page 0x123456000 peer",
                "0x123456bcd peer", "4096", "peer=3");
    put(small, 0x61234560b);
    expect_page(5, "PT4K[154]: 0x2001054d0 vid 0x000000061234560b page 0x123456000 peer",
                "0x123456bcd peer", "4096", "volatile peer=3");
}

/// Bits of the address below the page's size have no meaning.
TEST_F(Version2, LargerPagesAreFound) {
    put(big, 0x21001301);
    expect_page(4, "PT64K[9]: 0x200104148 vid 0x0000000021001301 page 0x210010000 vid",
                "0x21001abcd vid", "65536", "-");
    put(pd0, 0x21000001, 0);
    expect_page(3,
                "PD0[60]: 0x2001033c0 vid 0x00000000000000000000000021000001 page 0x210000000 vid",
                "0x21009abcd vid", "2097152", "-");
}

TEST_F(Version2, TableInSystemMemoryIsRead) {
    const auto lent = bench.machine.lend(4096);
    ASSERT_EQ(lent, 0x40000000U);
    put(pd1, 0x400000c);
    put(0x400003c0, 0x21000001, "coh");
    put(0x400003c8, 0, "coh");
    expect(request, lines(2) + "PD1[43]: 0x200102158 vid 0x000000000400000c table 0x40000000 coh\n"
                               "PD0[60]: 0x400003c0 coh 0x00000000000000000000000021000001 page "
                               "0x210000000 vid\n"
                               "result: 0x21009abcd vid\npage_size: 2097152\nflags: -\nerror: -\n");
}

TEST_F(Version2, EntryMayHaveOneTableOfTwo) {
    put(pd0, 0, 0x20010502);
    put(small, 0x21000001);
    expect_page(
        3,
        "PD0[60]: 0x2001033c0 vid 0x00000000200105020000000000000000 small 0x200105000 vid\n"
        "PT4K[154]: 0x2001054d0 vid 0x0000000021000001 page 0x210000000 vid",
        "0x210000bcd vid", "4096", "-");
    put(pd0, 0x20010412, 0);
    expect_end(3,
               "PD0[60]: 0x2001033c0 vid 0x00000000000000000000000020010412 big 0x200104100 vid\n"
               "PT64K[9]: 0x200104148 vid 0x0000000000000000 invalid",
               "PT64K[9] is invalid");
}

TEST_F(Version2, EntriesThatMapNothingSayWhy) {
    expect_end(5, "PT4K[154]: 0x2001054d0 vid 0x0000000000000000 invalid", "PT4K[154] is invalid");
    put(small, 8);
    expect_end(5, "PT4K[154]: 0x2001054d0 vid 0x0000000000000008 sparse", "PT4K[154] is sparse");
    put(big, 0x20);
    expect_end(4, "PT64K[9]: 0x200104148 vid 0x0000000000000020 no-small",
               "PT64K[9] is invalid, and small pages are ruled out");
    put(pd2, 0);
    expect_end(1, "PD2[141]: 0x200101468 vid 0x0000000000000000 invalid", "PD2[141] is invalid");
    put(pd2, 8);
    expect_end(1, "PD2[141]: 0x200101468 vid 0x0000000000000008 sparse", "PD2[141] is sparse");
}

/// A TITAN V has 12 GiB of memory.
TEST_F(Version2, TablesOutsideOfMemoryAreNamed) {
    put(pd0, 0x20010412, 0x40000002);
    expect_end(3,
               "PD0[60]: 0x2001033c0 vid 0x00000000400000020000000020010412 big 0x200104100 vid "
               "small 0x400000000 vid\n"
               "PT64K[9]: 0x200104148 vid 0x0000000000000000 invalid",
               "PT64K[9] leads to a table outside of memory");
    put(pd2, 0x40000002);
    expect_end(1, "PD2[141]: 0x200101468 vid 0x0000000040000002 bad",
               "PD2[141] leads to a table outside of memory");
    const std::string answer = "virtual_address: 0x1000\npage_directory: 0x400000000 vid\n"
                               "page_tables: 2\nresult: -\npage_size: -\nflags: -\n"
                               "error: the page directory is outside of memory\n";
    expect("0x400000000 0x1000", answer);
}

TEST_F(Version2, TablesWithoutMemoryAreNamed) {
    put(pd2, 0x5000004);
    expect_end(1, "PD2[141]: 0x200101468 vid 0x0000000005000004 table 0x50000000 coh",
               "PD2[141] is or leads to no memory");
    expect("0x50000000:coh 0x1000",
           "virtual_address: 0x1000\npage_directory: 0x50000000 coh\npage_tables: 2\n"
           "result: -\npage_size: -\nflags: -\n"
           "error: the page directory is or leads to no memory\n");
}

TEST_F(Version2, WrongRequestsAreRefused) {
    EXPECT_EQ(ask("").error, -EINVAL);
    EXPECT_EQ(ask(hex(pdb)).error, -EINVAL);
    EXPECT_EQ(ask("77:2 0x1000").error, -EINVAL); // no such runlist
    EXPECT_EQ(ask("0:9 0x1000").error, -EINVAL);  // no such channel in it
    EXPECT_EQ(ask("0:5000 0x1000").error, -EINVAL);
    EXPECT_EQ(ask(hex(pdb) + " 0x1ffffffffffff").error, 0);
    EXPECT_EQ(ask(hex(pdb) + " 0x2000000000000").error, -ERANGE);
    EXPECT_EQ(ask(hex(pdb) + " 0xffff000000000000").error, 0); // as CPUs extend the sign
    EXPECT_EQ(ask(hex(pdb) + " 0x1000 v1").error, -EINVAL);
    EXPECT_EQ(ask(hex(pdb) + " 0x1000 128k").error, -EINVAL);
}

TEST_F(Version2, CapabilitiesAndLockdownAreChecked) {
    EXPECT_EQ(ask(request).error, 0);
    for (const int capability : {CAP_SYS_ADMIN, CAP_SYS_RAWIO}) {
        shim.lacks = capability;
        EXPECT_EQ(ask(request).error, -EPERM);
    }
    shim.lacks = 0;
    shim.locked_down = true;
    EXPECT_EQ(ask(request).error, -EPERM);
    EXPECT_EQ(ask("x").error, -EPERM);
}

TEST_F(Version2, SleepingGpuIsAnError) {
    bench.machine.asleep = true;
    EXPECT_EQ(ask(request).error, -ENODEV);
    bench.machine.asleep = false;
    EXPECT_EQ(ask(request).error, 0);
}

// --- version 3 ---

class Version3 : public Translate {
  protected:
    Version3() : Translate("h200") {}
};

TEST_F(Version3, SmallPageIsFound) {
    put(pdb, 0x200101002);
    put(0x200101010, 0x200102002);
    put(0x200102468, 0x200103002);
    put(0x200103158, 0x200104002);
    put(0x2001043c0, 0x200105002, 0x200106002);
    put(0x200105048, 0);
    put(0x2001064d0, 0x7f654367d);
    expect(hex(pdb) + " " + va,
           "virtual_address: 0x123456789abcd\n"
           "page_directory: 0x200100000 vid\n"
           "page_tables: 3\n"
           "PD4[0]: 0x200100000 vid 0x0000000200101002 table 0x200101000 vid\n"
           "PD3[2]: 0x200101010 vid 0x0000000200102002 table 0x200102000 vid\n"
           "PD2[141]: 0x200102468 vid 0x0000000200103002 table 0x200103000 vid\n"
           "PD1[43]: 0x200103158 vid 0x0000000200104002 table 0x200104000 vid\n"
           "PD0[60]: 0x2001043c0 vid 0x00000002001060020000000200105002 big 0x200105000 vid small "
           "0x200106000 vid\n"
           "PT64K[9]: 0x200105048 vid 0x0000000000000000 invalid\n"
           "PT4K[154]: 0x2001064d0 vid 0x00000007f654367d page 0x7f6543000 coh\n"
           "result: 0x7f6543bcd coh\n"
           "page_size: 4096\n"
           "flags: privileged read-only no-atomics volatile kind=6\n"
           "error: -\n");
}

// --- requests on every board ---

class TranslateRequest : public OnBoard {
  protected:
    void SetUp() override { layout = bench.layout(); }

    Text ask(const std::string &request) { return bench.write("translate", request); }
    std::string answer(const std::string &request) {
        const Text got = ask(request);
        EXPECT_EQ(got.error, 0) << request;
        return got.text;
    }
    void refuse(const std::string &request, int error) {
        const Text got = ask(request);
        EXPECT_EQ(got.error, error) << '"' << request << '"';
        EXPECT_EQ(got.text, "") << '"' << request << '"';
    }
    /// Returns the channel's name, for example "0:2".
    static std::string name(const Json &channel) {
        return channel.at("runlist").dump() + ":" + channel.at("channel").dump();
    }

    Json layout;
};

TEST_P(TranslateRequest, JunkIsRefused) {
    for (const char *const text : {"",
                                   " ",
                                   "\n",
                                   "x",
                                   "0x1000",
                                   "x 0",
                                   "0x1000 x",
                                   "0x1000 0 x",
                                   "0x1000:vid",
                                   "0x1000:bad 0",
                                   "0x1000: 0",
                                   ":vid 0",
                                   "0x1000:vid 0 base",
                                   "0x1000 0 v4",
                                   "0x1000 0 v0",
                                   "0x1000 0 4k",
                                   "0x1000 0 0",
                                   "0x1000:vid:vid 0",
                                   "0x1000 -1x",
                                   "0x1000 0x",
                                   "1000:0 0",
                                   "0:0 0 v2",
                                   "0:0 0 based",
                                   "0:0",
                                   "0x1000, 0",
                                   "0x1001 0",
                                   "0x1000 0 v2 v2 v2",
                                   "0:99999 0"})
        refuse(text, -EINVAL);
    refuse(std::string("0x1000 0\0", 9), -EINVAL);
    refuse("0:" + std::to_string(bench.machine.model().board().channels - 1) + " 0", -EINVAL);
}

TEST_P(TranslateRequest, TooLargeNumbersAreRefused) {
    for (const std::string text : {"0x1000 100000000000000000000", "0x1000 0x0200000000000000",
                                   "100000000000000000000 0", "0x10000000000000000 0"})
        refuse(text, -ERANGE);
    refuse(name(layout.at("channels").at(0)) + " 0x0200000000000000", -ERANGE);
}

/// Version 1 has addresses of 40 bits, version 2 of 49 and version 3 of 57. The longer ones may
/// also be sign-extended, as CPUs do it.
TEST_P(TranslateRequest, AddressesEndWithTheirVersion) {
    const std::map<unsigned, unsigned> bits_of{{1, 40}, {2, 49}, {3, 57}};
    for (const Space &space : spaces(bench, layout)) {
        const unsigned bits = bits_of.at(space.version());
        answer(space.request((std::uint64_t{1} << bits) - 1));
        refuse(space.request(std::uint64_t{1} << bits), -ERANGE);
        refuse(space.request(~std::uint64_t{0} << (bits + 1)), -ERANGE);
        if (bits > 40)
            answer(space.request(~std::uint64_t{0} << (bits - 1)));
    }
}

/// The answer has a page, or the reason for which there is none.
TEST_P(TranslateRequest, AnswerHasAResultOrAnError) {
    const std::vector<std::string> keys{
        "virtual_address", "page_directory", "page_tables", "result",
        "page_size",       "flags",          "error"};
    for (const Space &space : spaces(bench, layout))
        for (const std::uint64_t va :
             {0x0UL, 0x1000UL, 0x200000UL, 0x12345678UL, 0x7fffffffffUL, 0xffffffffffUL}) {
            const std::string text = answer(space.request(va));
            Fields said = pairs(text);
            for (const std::string &key : keys)
                EXPECT_NE(said[key], "") << key << "\n" << text;
            EXPECT_EQ(said["virtual_address"], va ? hex(va) : "0") << text;
            EXPECT_EQ(said["page_directory"],
                      space.directory().at("address").get<std::string>() + " " +
                          space.directory().at("aperture").get<std::string>());
            EXPECT_EQ(said["page_tables"], std::to_string(space.version()));
            EXPECT_NE(said["result"] == "-", said["error"] == "-") << text;
        }
}

TEST_P(TranslateRequest, BaseIsTheChannelsPageDirectory) {
    bench.machine.restart("fig6");
    layout = bench.layout();
    unsigned compared = 0;
    for (const Json &one : layout.at("address_spaces")) {
        const Space space(bench, layout, one);
        for (const Json &channel : layout.at("channels")) {
            if (channel.at("page_directory").at("address") != space.directory().at("address"))
                continue;
            EXPECT_EQ(answer(name(channel) + " 0x200000 base"), answer(space.request(0x200000)));
            answer(name(channel) + " 0x200000\n");
            compared++;
        }
    }
    EXPECT_EQ(compared, layout.at("channels").size());
}

/// Compute work uses the subcontext's page directory, and "base" asks for the instance block's.
/// Here the block gets the page directory of another client of the MPS server.
TEST_P(TranslateRequest, BaseLeavesSubcontextsOut) {
    if (!bench.since("titan-v"))
        return; // no subcontexts
    bench.machine.restart("fig7");
    layout = bench.layout();
    std::map<unsigned, Json> of_veid;
    for (const Json &channel : layout.at("channels"))
        if (channel.at("runlist") == 0 && channel.at("subcontexts").size() > 1)
            of_veid[channel.at("veid")] = channel;
    const Json one = of_veid.at(1), other = of_veid.at(2);
    ASSERT_NE(one.at("page_directory"), other.at("page_directory"));
    const std::string before = answer(name(one) + " 0x200000");
    const std::string of_other = answer(name(other) + " 0x200000");
    EXPECT_EQ(answer(name(one) + " 0x200000 base"), before);
    bench.poke(one.at("instance"), 4ULL * NV_RAMIN_PAGE_DIR_BASE,
               bench.peek(other.at("instance"), 4ULL * NV_RAMIN_PAGE_DIR_BASE, 2));
    EXPECT_EQ(answer(name(one) + " 0x200000"), before);
    EXPECT_EQ(answer(name(one) + " 0x200000 base"), of_other);
    EXPECT_NE(of_other, before);
}

INSTANTIATE_TEST_SUITE_P(All, TranslateRequest, testing::ValuesIn(all_boards()), name_of_board);

// --- Versions of each generation ---

TEST(Versions, DependOnTheGeneration) {
    const std::set<std::string> first{"quadro-k5000", "gtx980"},
        both{"gtx1060-3gb", "gtx1080ti", "jetson-tx2"}, third{"h200", "b200", "rtx5090"};
    for (const std::string &board : all_boards()) {
        Bench bench(board);
        const bool v1 = first.contains(board) || both.contains(board);
        const bool v2 = !first.contains(board) && !third.contains(board);
        EXPECT_EQ(bench.write("translate", "0x100000 0x1000 v1").error, v1 ? 0 : -EINVAL) << board;
        EXPECT_EQ(bench.write("translate", "0x100000 0x1000 v2").error, v2 ? 0 : -EINVAL) << board;
        EXPECT_EQ(bench.write("translate", "0x100000 0x1000").error, 0) << board;
    }
}

// --- version 1 ---

class Version1 : public Translate {
  protected:
    Version1() : Translate("gtx980") {}

    /// Returns the instance block of channel 0 of runlist 0.
    [[nodiscard]] Json block() {
        const Json layout = bench.layout();
        for (const Json &channel : layout.at("channels"))
            if (channel.at("runlist") == 0 && channel.at("channel") == 0)
                return channel.at("instance");
        ADD_FAILURE() << "no channel 0:0";
        return {};
    }
};

TEST_F(Version1, SmallPageIsFound) {
    put(0x10000240, 0x0010010100100011);
    put(0x10002a28, 0);
    put(0x1002a2b0, 0x00000fe100200007);
    expect("0x10000000 0x123456789 64k",
           "virtual_address: 0x123456789\n"
           "page_directory: 0x10000000 vid\n"
           "page_tables: 1\n"
           "PD0[72]: 0x10000240 vid 0x0010010100100011 big 0x10001000 vid small 0x10010000 vid\n"
           "PT64K[837]: 0x10002a28 vid 0x0000000000000000 invalid\n"
           "PT4K[13398]: 0x1002a2b0 vid 0x00000fe100200007 page 0x20000000 vid\n"
           "result: 0x20000789 vid\n"
           "page_size: 4096\n"
           "flags: privileged read-only volatile kind=254\n"
           "error: -\n");
}

/// The GPU's register has the size of big pages, unless the request has it.
TEST_F(Version1, BigPageSizeIsTheGpus) {
    const auto with = [&](std::uint32_t ctrl, const std::string &more = "") {
        bench.machine.fault("none");
        bench.machine.fault("read 0x100c80 " + hex(ctrl));
        return ask("0x10000000 0x123456789" + more);
    };
    for (const std::uint32_t also : {0U, 0x800U}) { // bit 0x800: blocks may have a size, too
        EXPECT_NE(with(also | 1).text.find("\nPD0[72]: "), std::string::npos);
        EXPECT_NE(with(also).text.find("\nPD0[36]: "), std::string::npos);
        EXPECT_NE(with(also, " 64k").text.find("\nPD0[72]: "), std::string::npos);
        EXPECT_NE(with(also | 1, " 128k").text.find("\nPD0[36]: "), std::string::npos);
    }
    EXPECT_EQ(with(0xbadf1100).error, -EIO);
    EXPECT_EQ(with(0xbadf1100, " 64k").error, 0);
}

TEST_F(Version1, WalkEndsAtTheChannelsLimit) {
    bench.poke(block(), 4ULL * NV_RAMIN_ADR_LIMIT, std::array{0x00fff000U, 0U});
    const Text beyond = ask("0:0 0x1000000");
    EXPECT_EQ(beyond.error, 0);
    EXPECT_TRUE(beyond.text.ends_with("page_tables: 1\nresult: -\npage_size: -\nflags: -\n"
                                      "error: beyond the channel's limit\n"))
        << beyond.text;
    const Text within = ask("0:0 0xffffff");
    EXPECT_EQ(within.error, 0);
    EXPECT_NE(within.text.find("\nPD0[0]: "), std::string::npos) << within.text;
    // The limit is the channel's and not the tables'.
    const std::string directory = within.text.substr(within.text.find("page_directory: ") + 16);
    EXPECT_NE(ask(directory.substr(0, directory.find(' ')) + " 0x1000000").text.find("\nPD0[0]: "),
              std::string::npos);
}

TEST_F(Version1, PageDirectoryWithoutApertureIsNamed) {
    const std::uint32_t was = bench.peek(block(), 4ULL * NV_RAMIN_PAGE_DIR_BASE, 1)[0];
    bench.poke(block(), 4ULL * NV_RAMIN_PAGE_DIR_BASE, std::array{(was & ~3U) | 1});
    const Text got = ask("0:0 0x1000");
    EXPECT_EQ(got.error, 0);
    EXPECT_TRUE(got.text.ends_with("error: the page directory has an undefined aperture\n"))
        << got.text;
    EXPECT_NE(got.text.find(" invalid\npage_tables: 1\n"), std::string::npos) << got.text;
}

} // namespace
} // namespace core
