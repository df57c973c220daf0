// SPDX-License-Identifier: MIT OR GPL-2.0
// Reads the driver's record of context switches, over the stand-in.
#include "bench.hpp"

#include "lib/driver/switches.hpp"
#include "nvdebug/gpu.hpp"
#include "nvdebug/parse.hpp"

#include <cerrno>
#include <random>

namespace driver_test {
namespace {

rm::SwitchRecord one(std::uint64_t ns, std::uint8_t tag, std::uint32_t pid) {
    rm::SwitchRecord record{};
    record.tag = tag;
    record.ns = ns;
    record.pid = pid;
    record.context = 0x5c000015;
    return record;
}
constexpr std::uint8_t starts = rm::SwitchRecord::starts, ends = rm::SwitchRecord::ends;

class Switched : public Driver {
  protected:
    Switched() : gpu(bench.tree(), 0) {
        kernel.switches = {one(100, ends, 7), one(150, starts, 8), one(160, 3, 8),
                           one(350, ends, 8), one(400, starts, 7)};
    }
    const nvdebug::Gpu gpu;
};

TEST_F(Switched, AreReadOnceAndInOrder) {
    const auto card = nvdebug::driver::Card{"", 1U << 8, 0};
    auto reader = nvdebug::driver::Switches::start(bench.kernel, card);
    ASSERT_TRUE(reader) << reader.error().sentence;
    std::vector<nvdebug::ContextSwitch> found;
    EXPECT_EQ((*reader)->read(found), 0U);
    ASSERT_EQ(found.size(), 4U) << "what is neither a start nor an end is not told";
    EXPECT_EQ(found[1], (nvdebug::ContextSwitch{150, true, 0x5c000015, 8}));
    kernel.switches.push_back(one(500, ends, 7));
    kernel.dropped = 3;
    found.clear();
    EXPECT_EQ((*reader)->read(found), 3U);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].ns, 500U);
}

/// A pid is looked up in /proc only if the driver counts processes as this process does, and only
/// for processes that have the GPU open.
TEST_F(Switched, AreOfProcessesThatHaveTheGpu) {
    kernel.processes[8] = {.command = "mine", .started = 5};
    const auto card = nvdebug::driver::Card{"", 1U << 8, 0};
    auto reader = nvdebug::driver::Switches::start(bench.kernel, card);
    ASSERT_TRUE(reader) << reader.error().sentence;
    EXPECT_TRUE((*reader)->sees_processes());
    const nvdebug::Process known = (*reader)->process(8), nothing{8, {}, {}};
    EXPECT_EQ(known.command, "mine");
    EXPECT_EQ(known.cgroup, "/task");
    EXPECT_EQ(known.started, 5U);
    kernel.processes[8].uses_gpu = false;
    EXPECT_EQ((*reader)->process(8), nothing);
    kernel.processes[8].uses_gpu = true;
    kernel.host_numbers = false;
    EXPECT_FALSE((*reader)->sees_processes());
    EXPECT_EQ((*reader)->process(8), nothing);
    kernel.host_numbers = true;
    kernel.processes.erase(8);
    EXPECT_EQ((*reader)->process(8), nothing);
}

TEST_F(Switched, AreAFile) {
    for (const bool root : {true, false}) {
        kernel.root = root;
        const auto record = nvdebug::Gpu(bench.tree(), 0).context_switches(1);
        ASSERT_TRUE(record) << record.error().sentence;
        EXPECT_EQ(record->switches.size(), 4U);
        EXPECT_EQ(record->dropped, 0U);
        EXPECT_EQ(record->begin_ns.has_value(), root) << "the GPU's clock is for root";
    }
    EXPECT_FALSE(gpu.perform({"context_switches", "x", false}));
    EXPECT_FALSE(gpu.perform({"context_switches", "10001", false}));
}

TEST_F(Switched, SurvivesAFailureOfEachCall) {
    ASSERT_TRUE(gpu.context_switches(0));
    const std::size_t open = kernel.open_files(), mapped = kernel.mapped();
    kernel.ioctls = 0;
    ASSERT_TRUE(gpu.context_switches(0));
    const std::uint64_t calls = kernel.ioctls;
    for (std::uint64_t n = 1; n <= calls; n++)
        for (const bool refuse : {true, false}) {
            kernel.ioctls = 0;
            kernel.fail = refuse ? 0 : n;
            kernel.fail_with = EIO;
            kernel.deny = refuse ? n : 0;
            kernel.deny_with = rm::not_supported;
            const auto record = gpu.context_switches(0);
            if (!record) {
                EXPECT_NE(record.error().sentence, "") << n;
            }
            EXPECT_EQ(kernel.open_files(), open) << n;
            EXPECT_EQ(kernel.mapped(), mapped) << n;
        }
    kernel.fail = kernel.deny = 0;
    kernel.cannot_map = true;
    EXPECT_FALSE(gpu.context_switches(0));
    EXPECT_EQ(kernel.open_files(), open);
}

TEST_F(Switched, RefusesAPlaceBeyondTheEnd) {
    kernel.put_beyond = 1 << 16;
    const auto record = gpu.context_switches(0);
    ASSERT_FALSE(record);
    EXPECT_NE(record.error().sentence.find("beyond its end"), std::string::npos);
    kernel.put_beyond = 0;
    std::mt19937 random(1); // NOLINT: the same each time
    for (rm::SwitchRecord &each : kernel.switches)
        each = one(random(), static_cast<std::uint8_t>(6 + random() % 2), random());
    const auto nonsense = gpu.context_switches(0);
    ASSERT_TRUE(nonsense);
    for (const auto &[pid, part] : nvdebug::residency(*nonsense)) {
        EXPECT_GE(part, 0);
        EXPECT_LE(part, 1.0001);
    }
}

TEST(Residency, IsThePartOfTheTimeOnTheEngine) {
    nvdebug::ContextSwitches record;
    record.begin_ns = 0;
    record.end_ns = 1000;
    record.switches = {
        {100, false, 1, 7}, {150, true, 1, 8}, {350, false, 1, 8}, {400, true, 1, 7}};
    const auto parts = nvdebug::residency(record);
    ASSERT_EQ(parts.size(), 2U);
    EXPECT_DOUBLE_EQ(parts.at(7), 0.7); // until 100 and from 400 on
    EXPECT_DOUBLE_EQ(parts.at(8), 0.2);
    record.begin_ns = record.end_ns = std::nullopt;
    EXPECT_DOUBLE_EQ(nvdebug::residency(record).at(8), 200.0 / 300);
    record.dropped = 1;
    EXPECT_TRUE(nvdebug::residency(record).empty());
    EXPECT_TRUE(nvdebug::residency({}).empty());
    record = {0, 500, 200, {{300, true, 1, 7}}};
    EXPECT_TRUE(nvdebug::residency(record).empty()) << "a clock that goes back";
}

TEST(SwitchesText, RefusesMalformedText) {
    for (const char *const text :
         {"", "dropped: 1\n", "dropped: 0\nbegin_ns: 1\nend_ns: 2\n\n# ns\n",
          "dropped: x\nbegin_ns: -\nend_ns: -\n\n# ns starts context pid\n",
          "dropped: 0\nbegin_ns: -\nend_ns: -\n\n# ns starts context pid\n1 1 0x5\n"})
        EXPECT_FALSE(nvdebug::parse_context_switches(text)) << text;
}

} // namespace
} // namespace driver_test
