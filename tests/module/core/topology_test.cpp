// SPDX-License-Identifier: MIT OR GPL-2.0
// GPCs, TPCs, SMs, the size of memory and the clock. The files have the values of the board file,
// and values that were read from a real H200.
#include "bench.hpp"
#include "meddled.hpp"
#include "text.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <vector>

namespace core {
namespace {

using Row = std::map<std::string, std::string>;

/// Parses a file that begins with "# name name …" and then has a line for each row.
std::vector<Row> table(const std::string &text) {
    std::vector<Row> rows;
    std::vector<std::string> names;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string word;
        if (names.empty()) {
            words >> word;
            while (words >> word)
                names.push_back(word);
            continue;
        }
        rows.emplace_back();
        for (const std::string &name : names)
            words >> rows.back()[name];
    }
    return rows;
}

class Topology : public OnBoard {
  protected:
    /// Returns a number in the form that libsmctrl reads: at most 18 bytes, hexadecimal.
    std::uint64_t single(const std::string &file) {
        const std::string text = bench.text(file);
        EXPECT_TRUE(text.size() <= 18 && text.ends_with("\n")) << file;
        return std::stoull(text, nullptr, 16);
    }
    [[nodiscard]] const nvmodel::Geometry &facts() {
        return bench.machine.model().board().geometry;
    }
    /// Returns true if the tables of the work distributor are known and hold all TPCs.
    [[nodiscard]] bool has_map() {
        return bench.since("gtx980") && GetParam() != "rtx6000-ada" && GetParam() != "rtx5090";
    }
    /// Returns the number of TPCs of each GPC that is on.
    std::vector<int> live() {
        std::vector<int> all;
        for (std::size_t gpc = 0; gpc < facts().tpc_disabled.size(); gpc++)
            if (!(facts().gpc_disabled >> gpc & 1))
                all.push_back(std::popcount(~facts().tpc_disabled[gpc] &
                                            ((1U << facts().num_tpc_per_gpc) - 1)));
        return all;
    }
    int tpcs() {
        int all = 0;
        for (const int count : live())
            all += count;
        return all;
    }
};

TEST_P(Topology, HasTheDesignAndMasksOfItsBoard) {
    EXPECT_EQ(single("num_gpcs"), facts().num_gpcs);
    EXPECT_EQ(single("num_tpc_per_gpc"), facts().num_tpc_per_gpc);
    EXPECT_EQ(single("num_ces"), facts().num_ces);
    EXPECT_EQ(single("num_fbps"), facts().num_fbps);
    EXPECT_EQ(bench.has("num_ltcs"), bench.since("gtx980"));
    if (bench.has("num_ltcs")) {
        EXPECT_EQ(single("num_ltcs"), facts().num_ltcs);
    }
    EXPECT_EQ(single("gpc_mask"), facts().gpc_disabled);
    for (std::size_t gpc = 0; gpc < facts().num_gpcs; gpc++) {
        const bool off = facts().gpc_disabled >> gpc & 1;
        EXPECT_EQ(single("gpc" + std::to_string(gpc) + "_tpc_mask"),
                  off ? (1U << facts().num_tpc_per_gpc) - 1 : facts().tpc_disabled.at(gpc));
    }
    EXPECT_FALSE(bench.has("gpc" + std::to_string(facts().num_gpcs) + "_tpc_mask"));
}

TEST_P(Topology, HasEverySmOnce) {
    EXPECT_EQ(bench.has("sm_map"), has_map());
    EXPECT_EQ(bench.has("work_distributor"), has_map());
    if (!has_map())
        return;
    const std::size_t sms = bench.since("titan-v") ? 2 : 1;
    std::map<std::pair<int, int>, std::size_t> places;
    std::size_t next = 0;
    for (const Row &row : table(bench.text("sm_map"))) {
        EXPECT_EQ(row.at("sm"), std::to_string(next++));
        places[{std::stoi(row.at("gpc")), std::stoi(row.at("tpc"))}]++;
    }
    EXPECT_EQ(next, static_cast<std::size_t>(tpcs()) * sms);
    std::vector<int> counts(live().size());
    for (const auto &[place, count] : places) {
        EXPECT_EQ(count, sms);
        EXPECT_EQ(place.second, counts.at(static_cast<std::size_t>(place.first))++);
    }
    std::vector<int> wanted = live();
    if (GetParam() == "h200") { // the fuses number physical GPCs, the work distributor logical ones
        std::ranges::sort(wanted);
        std::ranges::sort(counts);
    }
    EXPECT_EQ(counts, wanted);
}

TEST_P(Topology, HasAWorkDistributor) {
    if (!has_map())
        return;
    Fields shown = pairs(bench.text("work_distributor"));
    EXPECT_EQ(shown["gpcs"], std::to_string(live().size()));
    EXPECT_EQ(shown["tpcs"], std::to_string(tpcs()));
    const bool partitions = bench.since("titan-v") && GetParam() != "b200";
    EXPECT_EQ(shown["partitioning"], partitions ? "none" : "-");
    const auto count = [](const std::string &text) {
        return text.empty() ? 0 : std::ranges::count(text, ' ') + 1;
    };
    const bool ampere = !bench.since("rtx6000-ada");
    const int words = GetParam() == "gtx980" ? 6 : 16;
    EXPECT_EQ(count(shown["gpc_tpc_id"]), ampere ? words : (tpcs() + 3) / 4);
    EXPECT_EQ(count(shown["sm_id"]), ampere ? words : 24);
    bench.machine.fault("read 0x405b2c 0x01050006");
    shown = pairs(bench.text("work_distributor"));
    EXPECT_EQ(shown["partitioning"], partitions ? "dynamic" : "-");
    EXPECT_EQ(shown["table"], partitions ? "enable" : "-");
    EXPECT_EQ(shown["veid_offset"], partitions ? "5" : "-");
    EXPECT_EQ(shown["table_offset"], partitions ? "1" : "-");
}

TEST_P(Topology, HasTheMemoryOfItsBoard) {
    const bool known = bench.since("gtx1060-3gb");
    EXPECT_TRUE(!known || bench.has("local_memory") || bench.since("rtx6000-ada"));
    if (bench.has("local_memory")) {
        EXPECT_EQ(std::stoull(bench.text("local_memory")),
                  bench.machine.model().board().video_bytes);
    }
}

TEST_P(Topology, HasAClockThatFollowsTheGpusTime) {
    constexpr std::uint64_t second = 1000000000;
    const std::uint64_t first = std::stoull(bench.text("ptimer"));
    bench.machine.model().advance(5 * second);
    const std::uint64_t passed = std::stoull(bench.text("ptimer")) - first;
    EXPECT_GE(passed, 5 * second);
    EXPECT_LT(passed, 5 * second + second / 1000);
    // The modelled driver sets the clock to 2025.
    const auto time = static_cast<std::time_t>(first / second);
    EXPECT_EQ(std::gmtime(&time)->tm_year, 125);
}

/// Reading a file writes no register. Windows of memory belong to access/ and are not moved here.
TEST_P(Topology, IsReadWithoutAWrite) {
    Meddled machine(GetParam(), "mixed");
    ASSERT_EQ(machine.probe(), 0);
    for (const File &file : files(machine))
        if (file.view != nullptr)
            static_cast<void>(read(machine, file));
    EXPECT_TRUE(machine.written.empty());
}

INSTANTIATE_TEST_SUITE_P(All, Topology, testing::ValuesIn(cards), name_of_board);

// --- Captured values ---

/// Drivers up to Pascal number SMs by round robin over GPCs, here with five and four TPCs.
TEST(CapturedTopology, WorkedExampleNumbersSmsRoundRobin) {
    Bench bench("gtx1060-3gb");
    EXPECT_EQ(bench.text("sm_map"),
              "# sm gpc tpc\n0 0 0\n1 1 0\n2 0 1\n3 1 1\n4 0 2\n5 1 2\n6 0 3\n7 1 3\n8 0 4\n");
}

TEST(CapturedTopology, H200HasItsMasksAndEngines) {
    Bench bench("h200");
    constexpr std::array<unsigned, 8> enabled{0x1ff, 0x1bf, 0x1bf, 0x1bf,
                                              0x1fb, 0x1ff, 0x1ef, 0x1bf};
    for (std::size_t gpc = 0; gpc < enabled.size(); gpc++)
        EXPECT_EQ(
            0x1ff & ~std::stoul(bench.text("gpc" + std::to_string(gpc) + "_tpc_mask"), nullptr, 16),
            enabled[gpc]);
    std::map<std::string, Row> rows;
    for (const Row &row : table(bench.text("device_info")))
        rows[row.at("engine") + row.at("inst")] = row;
    const std::map<std::string, std::pair<std::string, std::string>> captured{
        {"GR0", {"0", "0xc00000"}},    {"LCE0", {"0", "0xc00000"}},  {"LCE1", {"0", "0xc00000"}},
        {"LCE2", {"1", "0xc00400"}},   {"LCE3", {"3", "0xc00800"}},  {"LCE4", {"10", "0xc00c00"}},
        {"NVDEC1", {"6", "0xc04400"}}, {"SEC0", {"25", "0xc08400"}}, {"OFA0", {"8", "0xc08000"}}};
    for (const auto &[engine, where] : captured) {
        EXPECT_EQ(rows[engine]["runlist"], where.first) << engine;
        EXPECT_EQ(rows[engine]["runlist_base"], where.second) << engine;
    }
}

/// NVIDIA's driver reported this order for a real H200.
TEST(CapturedTopology, H200HasTheDriversOrderOfSms) {
    std::ifstream captured(std::filesystem::path(GOLDEN_FILES) / ".." / "data" / "h200-driver.txt");
    std::string wanted = "# sm gpc tpc\n";
    unsigned sm = 0;
    for (std::string line; std::getline(captured, line);) {
        std::istringstream words(line);
        std::string kind, number, gpc, physical, tpc;
        words >> kind >> number >> gpc >> physical >> tpc;
        for (int i = 0; kind == "tpc" && i < 2; i++)
            wanted += std::to_string(sm++) + " " + gpc + " " + tpc + "\n";
    }
    EXPECT_EQ(sm, 132U);
    EXPECT_EQ(Bench("h200").text("sm_map"), wanted);
}

} // namespace
} // namespace core
