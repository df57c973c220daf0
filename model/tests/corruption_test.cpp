// SPDX-License-Identifier: MIT OR GPL-2.0
// The request "corrupt".
#include "started.hpp"

namespace nvmodel::test {
namespace {

/// Returns all words of the driver's structures.
std::vector<std::uint32_t> words(const Started &started) {
    std::vector<std::uint32_t> all;
    for (const Structure &structure : started.bench.gpu.driver().structures()) {
        std::vector<std::uint32_t> some(structure.size / 4);
        EXPECT_TRUE(started.bench.gpu.memory().read_words(structure.at, some));
        all.insert(all.end(), some.begin(), some.end());
    }
    return all;
}

unsigned different_bits(const std::vector<std::uint32_t> &a, const std::vector<std::uint32_t> &b) {
    unsigned count = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
        count += static_cast<unsigned>(std::popcount(a[i] ^ b[i]));
    return count;
}

class CorruptRequest : public testing::TestWithParam<const char *> {};

TEST_P(CorruptRequest, FlipsAndPutsBack) {
    std::vector<std::string> names{"fig6", "page-tables"};
    if (board(GetParam()).generation->has_video_memory())
        names.emplace_back("bars");
    for (const std::string &name : names) {
        Started started(GetParam(), name);
        const auto before = words(started);
        const Json reply = started.ask("corrupt 7 20");
        ASSERT_EQ(reply["flips"].size(), 20U);
        EXPECT_EQ(different_bits(before, words(started)), 20U);
        std::set<std::string> kinds;
        for (const Json &flip : reply["flips"]) {
            kinds.insert(flip["what"]);
            EXPECT_LT(flip["bit"], 8);
        }
        EXPECT_EQ(kinds, (std::set<std::string>{"context", "instance", "page_table", "runlist"}));
        started.ask("corrupt 8");
        EXPECT_TRUE(started.ask("corrupt undo")["ok"]);
        EXPECT_EQ(different_bits(before, words(started)), 0U);
    }
}

INSTANTIATE_TEST_SUITE_P(Boards, CorruptRequest, testing::ValuesIn(boards), test_name);

TEST(CorruptRequests, TheSeedDecides) {
    Started one("a100", "fig6");
    Started other("a100", "fig6");
    const Json flips = one.ask("corrupt 42");
    EXPECT_EQ(flips["flips"].size(), 8U);
    EXPECT_EQ(flips, other.ask("corrupt 42"));
    one.ask("corrupt undo");
    EXPECT_NE(flips, one.ask("corrupt 43"));
}

TEST(CorruptRequests, CountersGoOnMeanwhile) {
    Started flipped("titan-v", "fig6");
    Started other("titan-v", "fig6");
    flipped.ask("corrupt 3 200");
    flipped.ask("corrupt undo");
    for (unsigned seed = 0; seed < 20; ++seed) {
        flipped.ask("corrupt " + std::to_string(seed) + " 50");
        flipped.ask("corrupt undo");
    }
    flipped.bench.advance_us(50'000);
    other.bench.advance_us(50'000);
    EXPECT_EQ(words(flipped), words(other));
}

TEST(CorruptRequests, HostKeepsItsFetchedLists) {
    Started started("titan-v", "fig6");
    started.ask("corrupt 1 500");
    const auto done = started.bench.gained(60'000);
    EXPECT_NEAR(done.at("task1"), 20'000, 2'000);
    EXPECT_NEAR(done.at("task3"), 20'000, 2'000);
}

TEST(CorruptRequests, BadArgumentsAreNamed) {
    Started started("a100", "fig6");
    const std::string usage =
        "expected \"corrupt SEED [FLIPS]\" or \"corrupt undo\"; at most 4096 flips";
    EXPECT_EQ(started.ask("corrupt x")["error"], usage);
    EXPECT_EQ(started.ask("corrupt 1 4097")["error"], usage);
    EXPECT_EQ(started.ask("corrupt")["error"], "expected 1 arguments, got 0");
    Bench cold("a100", "fig6");
    Requests requests(cold.gpu, Catalog(NVDEBUG_MODEL_DATA));
    EXPECT_EQ(Json::parse(requests.answer("corrupt 1"))["error"], "the workload is not started");
}

} // namespace
} // namespace nvmodel::test
