// SPDX-License-Identifier: MIT OR GPL-2.0
// PTOP, fuses and copy wiring, against words that were worked out by hand.
#include "support.hpp"

#include "board/ptop_table.hpp"

#include <numeric>

namespace nvmodel::test {
namespace {

std::vector<std::uint32_t> read_range(Bench &bench, std::uint32_t begin, unsigned count) {
    std::vector<std::uint32_t> words;
    for (unsigned i = 0; i < count; ++i)
        words.push_back(bench.read(begin + 4 * i));
    return words;
}

TEST(PtopV1, QuadroK5000IsLaidOutAsTheGk107ThatWasRead) {
    Bench bench("quadro-k5000", "idle");
    std::vector<std::uint32_t> expected{
        0x8006183e, 0x00000003, // GR0
        0x90828c3e, 0x00000007, // COPY0: engine 4, runlist 4
        0x94a30e3e, 0x0000000b, // COPY1
        0x9c03aa3e, 0x0000000f, // COPY2: engine 7, runlist 0
        0x8428a23e, 0x00000023, // MSPDEC
        0x8840023e, 0x00000027, // MSPPP
        0x8c679e3e, 0x0000002b, // MSVLD
        0x98c8243e, 0x0000002f, // MSENC
    };
    expected.resize(64, 0);
    EXPECT_EQ(read_range(bench, 0x22700, 64), expected);
    bench.expect_no_violations();
}

TEST(PtopV1, Gtx980TellsInstancesByType) {
    Bench bench("gtx980", "idle");
    std::vector<std::uint32_t> expected{
        0x8006183e, 0x80000003, 0x00400005, // GR0
        0x90828c3e, 0x80000007, 0x001040ad, // COPY0, fault id 21
        0x94a30e3e, 0x8000000b, 0x001050b5, // COPY1
        0x9c03aa3e, 0x8000000f, 0x001060dd, // COPY2: with GR0 on runlist 0
        0x84289e3e, 0x80000043, 0x000840a5, // NVDEC0
        0x8848243e, 0x8000003b, 0x001c80cd, // NVENC0: type 14
        0x98c0a63e, 0x8000003f, 0x001cc0d5, // NVENC1: type 15, instance 0
        0x8c679c3e, 0x80000037, 0x0008708d, // SEC0
    };
    expected.resize(64, 0);
    EXPECT_EQ(read_range(bench, 0x22700, 64), expected);
    bench.expect_no_violations();
}

TEST(PtopV1, Gtx1080TiHasASecondEncoder) {
    Bench bench("gtx1080ti", "idle");
    EXPECT_EQ(read_range(bench, 0x22700 + 4 * 24, 4),
              (std::vector<std::uint32_t>{0x9080a63e, 0x8000003b, 0x041cc0d5, 0}));
}

TEST(PtopV1, Gtx1060) {
    Bench bench("gtx1060-3gb", "idle");
    std::vector<std::uint32_t> expected{
        0x8006183e, 0x80000003, 0x00400005, // GR0: engine 0, runlist 0
        0x9c028c3e, 0x8000004f, 0x001040ad, // LCE0: engine 7, runlist 0
        0xa0030e3e, 0x8000004f, 0x041040b5, // LCE1: engine 8, runlist 0
        0x94a3aa3e, 0x8000004f, 0x081040dd, // LCE2: engine 5, runlist 5
        0x98c52c3e, 0x8000004f, 0x0c1040e5, // LCE3: engine 6, runlist 6
        0x84289e3e, 0x80000043, 0x000840a5, // NVDEC0
        0x8c679c3e, 0x80000037, 0x0008708d, // SEC0
        0x8848243e, 0x8000003b, 0x001c80cd, // NVENC0
    };
    expected.resize(64, 0);
    EXPECT_EQ(read_range(bench, 0x22700, 64), expected);
    bench.expect_no_violations();
}

TEST(PtopV1, Rtx2080TiIsLaidOutAsTheTu116ThatWasRead) {
    Bench bench("rtx2080ti", "idle");
    std::vector<std::uint32_t> expected{
        0x8006183e, 0x80000003, 0x00400205, // GR0
        0xac028c3e, 0x8000004f, 0x0010407d, // LCE0
        0xb0030e3e, 0x8000004f, 0x04104085, // LCE1
        0xa103aa3e, 0x8000004f, 0x0810408d, // LCE2
        0xa5252c3e, 0x8000004f, 0x0c104095, // LCE3
        0xa945ae3e, 0x8000004f, 0x1010409d, // LCE4
        0x84289e3e, 0x80000043, 0x00830055, // NVDEC0
        0x8c679c3e, 0x80000037, 0x00087075, // SEC0
        0x8848243e, 0x8000003b, 0x001c805d, // NVENC0
        0x800d800a, 0x80000053, 0x00110015, // GSP0: neither engine, runlist nor reset
    };
    expected.resize(64, 0);
    EXPECT_EQ(read_range(bench, 0x22700, 64), expected);
}

TEST(PtopV2, Rtx6000Ada) {
    Bench bench("rtx6000-ada", "idle");
    EXPECT_EQ(bench.read(0x224fc), 0x16130992U);
    std::vector<std::uint32_t> expected{
        0x80000040, 0xc0400000, 0x00d00000, // GR0
        0x9300000f, 0xc0104000, 0x00d00001, // LCE0: slot 1 of runlist 0
        0x93010010, 0xc0104000, 0x00d00002, // LCE1
        0x93020011, 0xc0104000, 0x00d01000, // LCE2
        0x93030012, 0xc0104000, 0x00d02000, // LCE3
        0x93040013, 0xc0104000, 0x00d03000, // LCE4
        0x90000019, 0xc0848000, 0x00d04000, // NVDEC0
        0x9001001a, 0xc084c000, 0x00d05000, // NVDEC1
        0x9002001b, 0xc0850000, 0x00d06000, // NVDEC2
        0x8e00000b, 0xc01c8000, 0x00d08000, // NVENC0: there is no engine on runlist 7
        0x8e01000c, 0xc01cc000, 0x00d09000, // NVENC1
        0x8e02000d, 0xc01d0000, 0x00d0a000, // NVENC2
        0x95000015, 0xc0000000, 0x00d0b000, // NVJPG0
        0x95010016, 0xc0000000, 0x00d0c000, // NVJPG1
        0x95020017, 0xc0000000, 0x00d0d000, // NVJPG2
        0x95030018, 0xc0000000, 0x00d0e000, // NVJPG3
        0x9600000a, 0xc0000000, 0x00d0f000, // OFA0
        0x8d00000e, 0xc0840000, 0x00d10000, // SEC0
    };
    expected.resize(353, 0);
    EXPECT_EQ(read_range(bench, 0x22800, 353), expected);
    for (unsigned id = 0; id < 17; ++id)
        EXPECT_EQ(bench.read(0xd00008 + 0x1000 * id), id << 16);
    EXPECT_EQ(bench.read(0xd00228) >> 24 & 0x3f, 0U);         // GR0's engine id
    EXPECT_EQ(bench.read(0xd00228 + 0x40) >> 24 & 0x3f, 17U); // LCE0's
    EXPECT_EQ(bench.read(0xd04228) >> 24 & 0x3f, 4U);         // NVDEC0's
    bench.expect_no_violations();
}

TEST(PtopV2, A100HasAnEmptyRowAndADeviceWithoutRunlist) {
    const auto rows = ptop_v2_rows(board("a100"));
    ASSERT_EQ(rows.size(), 353U);
    const std::size_t used = 26 * 3; // engines
    EXPECT_EQ(rows[used], 0U);
    EXPECT_EQ(rows[used + 1], 0x94000002U); // GSP0, fault id 2
    EXPECT_EQ(rows[used + 2], 0x00110000U); // its rows end here: no engine
    EXPECT_EQ(rows[used + 3], 0U);
}

TEST(Ptop, ScalarsAndFuses) {
    Bench pascal("gtx1060-3gb", "idle");
    EXPECT_EQ(pascal.read(0x22430), 2U);
    EXPECT_EQ(pascal.read(0x22434), 5U);
    EXPECT_EQ(pascal.read(0x21c1c), 0U);
    EXPECT_EQ(pascal.read(0x21c38), 0x00U);
    EXPECT_EQ(pascal.read(0x21c3c), 0x10U);
    Bench ampere("a100", "idle");
    EXPECT_EQ(ampere.read(0x22430), 8U);
    EXPECT_EQ(ampere.read(0x22434), 8U);
    EXPECT_EQ(ampere.read(0x820c1c), 0x80U);
    EXPECT_EQ(ampere.read(0x820c38 + 4 * 7), 0xffU);
    pascal.expect_no_violations();
    ampere.expect_no_violations();
}

TEST(Ptop, ScalarsOfMemory) {
    Bench kepler("quadro-k5000", "idle");
    EXPECT_EQ(kepler.read(0x22438), 4U);
    kepler.expect_no_violations();
    EXPECT_EQ(kepler.read(0x22454), 0xbadf5040U) << "from GM20x on";
    Bench ampere("a100", "idle");
    EXPECT_EQ(ampere.read(0x22438), 12U);
    EXPECT_EQ(ampere.read(0x22454), 24U);
    ampere.expect_no_violations();
}

TEST(Fuses, KeplersAreInsidePtop) {
    Bench bench("quadro-k5000", "idle");
    for (const std::uint32_t offset : {0x22504U, 0x22508U, 0x22514U, 0x22584U, 0x22588U, 0x22594U})
        EXPECT_EQ(bench.read(offset), 0U) << std::hex << offset;
    bench.write(0x22588, 0x2); // software's copy
    EXPECT_EQ(bench.read(0x22588), 0x2U);
    EXPECT_EQ(bench.read(0x22508), 0x0U);
    bench.expect_no_violations();
    EXPECT_EQ(bench.read(0x21c1c), 0xbadf1100U);
}

TEST(PriRing, CountsLiveGpcs) {
    for (const auto &[name, gpcs] :
         std::map<std::string, unsigned>{{"quadro-k5000", 4}, {"gtx1080ti", 6}, {"a100", 7}}) {
        Bench bench(name, "idle");
        EXPECT_EQ(bench.read(0x120078), gpcs) << name;
        bench.expect_no_violations();
    }
}

TEST(MemorySizes, EachGenerationHasItsRegister) {
    // MAG << (SCALE + 20): 48 << 26 is 3 GiB.
    for (const auto &[name, word] :
         std::map<std::string, std::uint32_t>{{"gtx1060-3gb", 48 << 4 | 6},
                                              {"gtx1080ti", 44 << 4 | 8},
                                              {"titan-v", 48 << 4 | 8},
                                              {"rtx2080ti", 44 << 4 | 8},
                                              {"a100", 40 << 4 | 10}}) {
        Bench bench(name, "idle");
        EXPECT_EQ(bench.read(0x100ce0), word) << name;
        bench.expect_no_violations();
    }
    Bench ada("rtx6000-ada", "idle");
    EXPECT_EQ(ada.read(0x1183a4), 49152U);
    ada.expect_no_violations();
    EXPECT_EQ(ada.read(0x100ce0), 0xbadf1100U);
    for (const char *name : {"quadro-k5000", "gtx980"}) {
        Bench bench(name, "idle");
        EXPECT_EQ(bench.read(0x100ce0), 0xbadf1100U) << name;
    }
}

TEST(Fuses, LiveTpcsAreTheProducts) {
    const std::map<std::string, unsigned> tpcs{
        {"quadro-k5000", 8}, {"gtx980", 16},    {"gtx1060-3gb", 9}, {"gtx1080ti", 28},
        {"titan-v", 40},     {"rtx2080ti", 34}, {"a100", 54},       {"rtx6000-ada", 71}};
    for (const auto &[name, expected] : tpcs) {
        const std::vector<unsigned> live = board(name).geometry.live_tpcs();
        EXPECT_EQ(std::accumulate(live.begin(), live.end(), 0U), expected) << name;
    }
}

TEST(CopyWiring, EachGenerationsForm) {
    Bench pascal("gtx1060-3gb", "idle");
    EXPECT_EQ(pascal.read(0x104028), 0x3U);
    EXPECT_EQ(pascal.read(0x10402c), 0x77777732U); // PCE0 -> LCE2, PCE1 -> LCE3, others none
    EXPECT_EQ(pascal.read(0x104034), 0x0b0aU);     // GRCE1 shares LCE3, GRCE0 shares LCE2
    Bench volta("titan-v", "idle");
    EXPECT_EQ(volta.read(0x104028), 0x1ffU);
    EXPECT_EQ(volta.read(0x104040), 2U);
    EXPECT_EQ(volta.read(0x104040 + 4 * 8), 1U);
    EXPECT_EQ(volta.read(0x104034), 0xfU);
    Bench turing("rtx2080ti", "idle");
    EXPECT_EQ(turing.read(0x104028), 0xfU);
    EXPECT_EQ(read_range(turing, 0x104040, 4), (std::vector<std::uint32_t>{0xf, 4, 2, 3}));
    EXPECT_EQ(turing.read(0x104034), 0x40000004U);
    EXPECT_EQ(turing.read(0x104038), 0x40000003U);
    Bench ga100("a100", "idle");
    EXPECT_EQ(ga100.read(0x104028), 0x3ffffU);
    EXPECT_EQ(ga100.read(0x104100), 0xfU);
    EXPECT_EQ(ga100.read(0x104100 + 4 * 16), 2U);
    EXPECT_EQ(ga100.read(0x104100 + 4 * 17), 3U);
    EXPECT_EQ(ga100.read(0x1041c0), 0xfU);
    Bench ada("rtx6000-ada", "idle");
    EXPECT_EQ(ada.read(0x104028), 0x3fU);
    EXPECT_EQ(read_range(ada, 0x104100, 6), (std::vector<std::uint32_t>{4, 0xf, 0xf, 0xf, 2, 3}));
    EXPECT_EQ(ada.read(0x1041c0), 0x40000003U);
    EXPECT_EQ(ada.read(0x1041c4), 0x40000002U);
    for (Bench *bench : {&pascal, &volta, &turing, &ga100, &ada})
        bench->expect_no_violations();
}

TEST(Pmc, Identity) {
    Bench kepler("quadro-k5000", "idle");
    EXPECT_EQ(kepler.read(0x0), 0x0e40a0a2U) << "with bits of the PCI device id";
    EXPECT_EQ(kepler.read(0xa00), 0x0e4a2000U);
    const std::map<std::string, std::uint32_t> boot_0{
        {"gtx980", 0x124000a1},     {"gtx1080ti", 0x132000a1}, {"gtx1060-3gb", 0x136000a1},
        {"titan-v", 0x140000a1},    {"rtx2080ti", 0x162000a1}, {"a100", 0x170000a1},
        {"rtx6000-ada", 0x192000a1}};
    for (const auto &[name, value] : boot_0) {
        Bench bench(name, "idle");
        EXPECT_EQ(bench.read(0x0), value);
        EXPECT_EQ(bench.read(0x4), 0U);
        EXPECT_EQ(bench.read(0xa00), (value & 0x1ff00000) | 0xa1000);
        bench.expect_no_violations();
    }
}

} // namespace
} // namespace nvmodel::test
