// SPDX-License-Identifier: MIT OR GPL-2.0
// A guest may do anything: random accesses must neither stop the model nor break its invariants.
// The tests are deterministic; under the sanitizers they find more.
#include "support.hpp"

#include "regs/pbus.hpp"

#include <random>
#include <set>

namespace nvmodel::test {
namespace {

class Robustness : public testing::TestWithParam<const char *> {
  protected:
    /// Returns an offset that usually has an effect.
    std::uint32_t offset() {
        const Board &board = bench->gpu.board();
        const auto near = [this](std::uint32_t begin, std::uint32_t length) {
            return begin + pick(length / 4) * 4;
        };
        if (board.ids_per_runlist() && pick(2) == 0) {
            const RunlistRow &row = board.runlists[pick(2)];
            return pick(2) == 0 ? near(row.base, 0x400) : near(row.chram, 0x200);
        }
        switch (pick(8)) {
        case 0:
            return near(0x2000, 0x2000);
        case 1:
            return near(0x800000, 0x280);
        case 2:
            return near(0x104000, 0x200);
        case 3:
            return board.generation->window_register;
        case 4:
            return near(0x700000, 0x2000);
        case 5:
            return pick(2) == 0 ? 0x810090 : 0xbb0090;
        case 6:
            return 0x2630 + 4 * pick(3);
        default:
            return near(0, 16 << 20);
        }
    }

    std::uint32_t value() {
        switch (pick(5)) {
        case 0:
            return 1U << pick(32);
        case 1:
            return pick(80);
        case 2:
            return 0xffffffff;
        case 3:
            return 0x01000000 | pick(20);
        default:
            return static_cast<std::uint32_t>(random());
        }
    }

    std::uint32_t pick(std::uint32_t below) { return static_cast<std::uint32_t>(random() % below); }

    /// Checks the invariants, which hold at every instant, whatever the guest does.
    void check() {
        const Host &host = bench->gpu.chip().host();
        std::set<std::size_t> on_pbdma;
        for (const Pbdma &pbdma : host.pbdmas()) {
            std::set<std::size_t> clients;
            for (const PbdmaClient &client : pbdma.clients)
                EXPECT_TRUE(clients.insert(client.channel).second) << "a client twice";
            if (const PbdmaClient *const loaded = pbdma.loaded()) {
                EXPECT_TRUE(on_pbdma.insert(loaded->channel).second) << "loaded twice";
            }
        }
        for (const Engine &engine : host.engines())
            for (const std::size_t index : engine.channels) {
                EXPECT_TRUE(engine.context.holds()) << "work without a context";
                EXPECT_EQ(&host.engines()[*host.channel(index).engine], &engine);
            }
    }

    void work_is_no_more_than_time() {
        std::map<std::string, double> by_engine;
        for (const ChannelProgress &each : bench->gpu.progress())
            by_engine[each.engine] += each.progress_us;
        for (const auto &[engine, us] : by_engine)
            EXPECT_LE(us, to_us(bench->gpu.now()) + 0.001) << engine;
    }

    std::mt19937_64 random{20260101};
    std::unique_ptr<Bench> bench = Bench::started(GetParam(), "mixed");
};

TEST_P(Robustness, RandomAccesses) {
    for (int i = 0; i < 20'000; ++i) {
        const std::uint32_t at = offset();
        const unsigned size = pick(16) == 0 ? 1U << pick(4) : 4;
        if (pick(3) == 0)
            bench->gpu.bar_read(Bar::registers, at, size);
        else
            bench->gpu.bar_write(Bar::registers, at, value(), size);
        if (pick(50) == 0)
            bench->advance_us(pick(5'000));
        if (pick(200) == 0)
            bench->gpu.resubmit(0);
        if (i % 16 == 0)
            check();
    }
    work_is_no_more_than_time();
}

TEST_P(Robustness, RandomLists) {
    const Board &board = bench->gpu.board();
    const PhysicalAddress list{bench->default_aperture(), board.generation->has_video_memory()
                                                              ? 0x100000
                                                              : sysmem_range.base + 0xf00000};
    for (int round = 0; round < 300; ++round) {
        for (std::uint32_t i = 0; i < 64; ++i)
            bench->poke({list.aperture, list.address + 4 * i},
                        pick(3) == 0 ? value() : pick(8) << 26 | 0x03d0a000);
        const std::uint32_t length = pick(20);
        const unsigned runlist = board.generation->submit == SubmitScheme::shared_port
                                     ? board.runlists[pick(2) % board.runlists.size()].id
                                     : board.runlists[0].id;
        bench->submit(runlist, list, length, pick(4));
        bench->advance_us(pick(3'000));
        check();
    }
    work_is_no_more_than_time();
}

INSTANTIATE_TEST_SUITE_P(Boards, Robustness, testing::ValuesIn(boards), test_name);

} // namespace
} // namespace nvmodel::test
