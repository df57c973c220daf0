// SPDX-License-Identifier: MIT OR GPL-2.0
// Configuration space and address decoding.
#include "support.hpp"

namespace nvmodel::test {
namespace {

constexpr std::uint64_t bar0 = 0xf0000000;
constexpr std::uint64_t bar1 = 0xe0000000;
constexpr std::uint64_t bar2 = 0xec000000;

void program(Gpu &gpu) {
    gpu.config_write(0x10, bar0, 4);
    gpu.config_write(0x14, bar1, 4);
    gpu.config_write(0x1c, bar2, 4);
    gpu.config_write(0x04, 0x2, 2);
}

TEST(PciConfig, Identity) {
    Bench bench("a100", "idle");
    EXPECT_EQ(bench.gpu.config_read(0x00, 4), 0x20f110deU);
    EXPECT_EQ(bench.gpu.config_read(0x08, 4), 0x030200a1U);
    EXPECT_EQ(bench.gpu.config_read(0x2c, 4), 0x145f10deU);
    EXPECT_EQ(bench.gpu.config_read(0x0a, 2), 0x0302U);
    EXPECT_EQ(bench.gpu.config_read(0x0e, 1), 0x00U); // one function, type 0 header
    EXPECT_EQ(bench.gpu.config_read(0x3d, 1), 0x01U); // INTA
}

TEST(PciConfig, Capabilities) {
    Bench bench("titan-v", "idle");
    EXPECT_NE(bench.gpu.config_read(0x06, 2) & 0x10, 0U);
    const auto first = bench.gpu.config_read(0x34, 1);
    EXPECT_EQ(first, 0x60U);
    EXPECT_EQ(bench.gpu.config_read(first, 1), 0x01U);     // power management
    EXPECT_EQ(bench.gpu.config_read(first + 1, 1), 0x00U); // no capability follows
}

TEST(PciConfig, BarsShowTheirSizes) {
    Bench bench("rtx6000-ada", "idle");
    const std::map<std::uint32_t, std::uint32_t> sizes{
        {0x10, 16 << 20}, {0x14, 16 << 20}, {0x18, 0}, {0x1c, 32 << 20},
        {0x20, 0},        {0x24, 0},        {0x28, 0}, {0x30, 0}};
    for (const auto &[offset, size] : sizes) {
        bench.gpu.config_write(offset, 0xffffffff, 4);
        EXPECT_EQ(bench.gpu.config_read(offset, 4), size == 0 ? 0 : ~(size - 1)) << offset;
        bench.gpu.config_write(offset, 0, 4);
    }
}

TEST(PciConfig, ReadOnlyFieldsStay) {
    Bench bench("titan-v", "idle");
    for (std::uint32_t offset = 0; offset < 256; offset += 4)
        bench.gpu.config_write(offset, 0, 4);
    EXPECT_EQ(bench.gpu.config_read(0x00, 4), 0x1d8110deU);
    bench.gpu.config_write(0x04, 0xffff, 2);
    EXPECT_EQ(bench.gpu.config_read(0x04, 2), 0x0406U); // memory, master, INTx disable
}

TEST(PciConfig, BytesBehindTheSpaceReadAsOnes) {
    Bench bench("titan-v", "idle");
    EXPECT_EQ(bench.gpu.config_read(0x100, 4), 0xffffffffU);
    EXPECT_EQ(bench.gpu.config_read(0xfe, 4), 0xffff0000U);
    EXPECT_EQ(bench.gpu.config_read(0xffffffff, 4), 0xffffffffU);
    bench.gpu.config_write(0xfffffffe, 0, 4);
}

TEST(Decode, NothingWithoutMemoryEnable) {
    Bench bench("titan-v", "idle");
    program(bench.gpu);
    EXPECT_EQ(bench.gpu.memory_read(bar0, 4), 0x140000a1U);
    bench.gpu.config_write(0x04, 0, 2);
    const Ns before = bench.gpu.now();
    EXPECT_EQ(bench.gpu.memory_read(bar0, 4), 0xffffffffU);
    EXPECT_EQ(bench.gpu.now(), before);
}

TEST(Decode, BarsMayMove) {
    Bench bench("titan-v", "idle");
    program(bench.gpu);
    bench.gpu.config_write(0x10, 0xd1000000, 4);
    EXPECT_EQ(bench.gpu.memory_read(0xd1000000, 4), 0x140000a1U);
    EXPECT_EQ(bench.gpu.memory_read(bar0, 4), 0xffffffffU);
    EXPECT_EQ(bench.gpu.memory_read(0xd1000a00, 4), 0x140a1000U);
    EXPECT_EQ(bench.gpu.memory_read(0xd1fffffc, 8), ~0ULL) << "runs over the end";
}

TEST(Decode, EachBarIsItself) {
    Bench bench("gtx1060-3gb", "idle");
    program(bench.gpu);
    bench.gpu.memory_write(bar1 + 0x1000, 0x12345678, 4);
    EXPECT_EQ(bench.gpu.memory_read(bar2 + 0x1000, 4), 0x12345678U) << "both show video memory";
    EXPECT_EQ(bench.gpu.bar_read(Bar::framebuffer, 0x1000, 4), 0x12345678U);
}

TEST(Decode, AsleepAnswersNothing) {
    Bench bench("titan-v", "idle");
    program(bench.gpu);
    bench.gpu.config_write(0x64, 3, 2); // D3hot
    EXPECT_EQ(bench.gpu.memory_read(bar0, 4), 0xffffffffU);
    bench.gpu.config_write(0x64, 0, 2);
    EXPECT_EQ(bench.gpu.memory_read(bar0, 4), 0x140000a1U);
    ASSERT_EQ(bench.gpu.violations().records().size(), 1U);
    EXPECT_EQ(bench.gpu.violations().records()[0].why, Violation::asleep);
}

TEST(Reset, MakesTheBoardCold) {
    auto bench = Bench::started("titan-v", "three-tasks");
    program(bench->gpu);
    EXPECT_EQ(bench->read(0x2284) & 0xffff, 9U);
    EXPECT_NE(bench->peek({Aperture::video, bench->gpu.board().video_bytes - (64 << 20)}), 0U);
    bench->gpu.reset();
    EXPECT_FALSE(bench->gpu.started());
    EXPECT_EQ(bench->gpu.now(), 0);
    EXPECT_EQ(bench->gpu.config_read(0x10, 4), 0U);
    EXPECT_EQ(bench->read(0x2284), 0U);
    EXPECT_EQ(bench->peek({Aperture::video, bench->gpu.board().video_bytes - (64 << 20)}), 0U)
        << "memory is forgotten";
    EXPECT_EQ(bench->read(0x22700), 0x8006183eU) << "topology can be read";
    bench->gpu.start();
    EXPECT_EQ(bench->read(0x2284) & 0xffff, 9U);
}

TEST(Restart, KeepsPciConfiguration) {
    auto bench = Bench::started("titan-v", "three-tasks");
    program(bench->gpu);
    const Workload other = workload("idle");
    bench->gpu.restart(&other);
    EXPECT_EQ(bench->gpu.memory_read(bar0, 4), 0x140000a1U);
    EXPECT_EQ(bench->gpu.plan().name, "idle");
    EXPECT_EQ(bench->read(0x2284) & 0xffff, 3U);
    bench->gpu.restart(nullptr);
    EXPECT_EQ(bench->gpu.plan().name, "idle");
}

TEST(Restart, AWorkloadThatDoesNotFitChangesNothing) {
    auto bench = Bench::started("titan-v", "three-tasks");
    const Workload other = workload("same-ids");
    EXPECT_THROW(bench->gpu.restart(&other), ConfigError);
    EXPECT_TRUE(bench->gpu.started());
    EXPECT_EQ(bench->gpu.plan().name, "three-tasks");
    EXPECT_EQ(bench->read(0x2284) & 0xffff, 9U);
}

} // namespace
} // namespace nvmodel::test
