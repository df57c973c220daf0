// SPDX-License-Identifier: MIT OR GPL-2.0
// The numbers of TPCs, and the work distributor's tables of them.
#include "support.hpp"

#include "blocks/work_distributor.hpp"
#include "driver/tpc_numbers.hpp"

#include <numeric>

namespace nvmodel::test {
namespace {

using Places = std::vector<TpcPlace>;
using Counts = std::vector<unsigned>;

TEST(TpcNumbers, TakingTurns) {
    EXPECT_EQ(number_tpcs(TpcOrder::round_robin, Counts{3, 1, 2}),
              (Places{{0, 0}, {1, 0}, {2, 0}, {0, 1}, {2, 1}, {0, 2}}));
    EXPECT_EQ(number_tpcs(TpcOrder::round_robin, Counts{}), Places{});
}

TEST(TpcNumbers, FullestFirst) {
    // The table of the gv11b that was read: id 0 is GPC 0's TPC 3.
    EXPECT_EQ(number_tpcs(TpcOrder::fullest_gpc_first, Counts{4}),
              (Places{{0, 3}, {0, 2}, {0, 1}, {0, 0}}));
    EXPECT_EQ(number_tpcs(TpcOrder::fullest_gpc_first, Counts{1, 3, 2}),
              (Places{{1, 2}, {2, 1}, {1, 1}, {2, 0}, {1, 0}, {0, 0}}));
}

TEST(WorkDistributor, Gtx1060) {
    Bench cold("gtx1060-3gb", "idle");
    EXPECT_EQ(cold.read(0x405b00), 0U) << "nobody has numbered anything yet";
    auto bench = Bench::started("gtx1060-3gb", "idle");
    EXPECT_EQ(bench->read(0x405b00), 0x902U); // nine TPCs, two GPCs
    EXPECT_EQ(bench->read(0x405b60), 0x11011000U);
    EXPECT_EQ(bench->read(0x405b64), 0x13031202U);
    EXPECT_EQ(bench->read(0x405b68), 0x00000004U);
    EXPECT_EQ(bench->read(0x405b9c), 0U);
    EXPECT_EQ(bench->read(0x405ba0), 0x06040200U); // GPC 0, TPC 0 to 3
    EXPECT_EQ(bench->read(0x405ba4), 0x07050301U); // GPC 1
    EXPECT_EQ(bench->read(0x405ba8), 0x00000008U); // GPC 0, TPC 4
    bench->expect_no_violations();
    EXPECT_EQ(bench->read(0x405b2c), 0xbadf5040U) << "partitions come with Volta";
}

TEST(WorkDistributor, Gtx980HasARegisterForEachGpc) {
    auto bench = Bench::started("gtx980", "idle");
    EXPECT_EQ(bench->read(0x405b00), 0x1004U);
    EXPECT_EQ(bench->read(0x405b60), 0x30201000U); // TPC 0 of GPC 0 to 3
    EXPECT_EQ(bench->read(0x405b6c), 0x33231303U);
    EXPECT_EQ(bench->read(0x405ba0), 0x0c080400U); // GPC 0
    EXPECT_EQ(bench->read(0x405bac), 0x0f0b0703U); // GPC 3
    bench->expect_no_violations();
}

TEST(WorkDistributor, KeplerOnlyCounts) {
    auto bench = Bench::started("quadro-k5000", "idle");
    EXPECT_EQ(bench->read(0x405b00), 0x0804U);
    bench->expect_no_violations();
    EXPECT_EQ(bench->read(0x405b60), 0xbadf5040U);
}

TEST(WorkDistributor, TitanVStartsAtTheFullestGpc) {
    auto bench = Bench::started("titan-v", "idle");
    EXPECT_EQ(bench->read(0x405b00), 0x2806U);
    // Seven TPCs in GPC 0 to 3, six in the two others: 3 and TPC 6 first.
    EXPECT_EQ(bench->read(0x405b60), 0x06162636U);
    bench->write(0x405b2c, 0xffffffff);
    EXPECT_EQ(bench->read(0x405b2c), 0x3fffffffU);
    bench->write(0x405b30, 0x1234);
    EXPECT_EQ(bench->read(0x405b30), 0x1234U);
    bench->expect_no_violations();
}

TEST(WorkDistributor, TheTwoTablesAreInverse) {
    for (const char *name : boards) {
        const Board loaded = board(name);
        const WorkDistributor form = loaded.generation->work_distributor;
        if (form == WorkDistributor::none || form == WorkDistributor::counts)
            continue;
        auto bench = Bench::started(name, "idle");
        const std::uint32_t tpcs = bench->read(0x405b00) >> 8;
        const WorkDistributorTables tables = work_distributor_tables(loaded);
        const std::vector<unsigned> live = loaded.geometry.live_tpcs();
        EXPECT_EQ(tpcs, std::accumulate(live.begin(), live.end(), 0U));
        if (form == WorkDistributor::gb20c)
            continue; // it has one table only
        EXPECT_LE(tpcs, 4 * tables.gpc_tpc_id_words);
        for (std::uint32_t id = 0; id < tpcs; ++id) {
            const std::uint32_t place =
                bench->read(tables.gpc_tpc_id + id / 4 * 4) >> (id % 4 * 8) & 0xff;
            const std::uint32_t gpc = place >> 4;
            const std::uint32_t tpc = place & 0xf;
            EXPECT_LT(tpc, live.at(gpc)) << name;
            const std::uint32_t row =
                form == WorkDistributor::gm200 ? gpc : gpc + loaded.geometry.num_gpcs * (tpc / 4);
            EXPECT_EQ(bench->read(tables.sm_id + 4 * row) >> (tpc % 4 * 8) & 0xff, id) << name;
        }
        bench->expect_no_violations();
    }
}

TEST(WorkDistributor, HoppersTablesAreLargerAndElsewhere) {
    auto bench = Bench::started("h200", "idle");
    // This is the captured order: GPC 1 to 6, 0 and 7 take turns, then the rest of GPC 1.
    EXPECT_EQ(bench->read(0x405000), 0x40302010U);
    EXPECT_EQ(bench->read(0x405040), 0x00001716U);
    EXPECT_EQ(bench->read(0x405100), 0x1e160e06U); // GPC 0, TPC 0 to 3
    EXPECT_EQ(bench->read(0x405140), 0x0000003cU); // GPC 0, TPC 8
    EXPECT_EQ(bench->read(0xcc14), 0x00060000U);   // logical GPC 5 is 6
    bench->expect_no_violations();
    EXPECT_EQ(bench->read(0x405b60), 0xbadf5040U);
    auto gb202 = Bench::started("rtx5090", "idle");
    EXPECT_EQ(gb202->read(0x405b00), 0x550bU);
    EXPECT_NE(gb202->read(0x405100), 0U);
    gb202->read(0x40515c);
    gb202->expect_no_violations();
    EXPECT_EQ(gb202->read(0x405000), 0xbadf5040U) << "GB20C has no GPC_TPC_ID";
    EXPECT_EQ(gb202->read(0x405160), 0xbadf5040U);
}

TEST(WorkDistributor, AdaHasNoRegisters) {
    Bench ada("rtx6000-ada", "idle");
    EXPECT_EQ(ada.read(0x405b00), 0xbadf1100U);
}

} // namespace
} // namespace nvmodel::test
