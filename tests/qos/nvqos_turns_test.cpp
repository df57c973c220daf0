// SPDX-License-Identifier: MIT OR GPL-2.0
// Turns of processes from switches that a test makes up.
#include "tools/nvqos/keep/turns.hpp"

#include <gtest/gtest.h>

namespace nvqos {
namespace {

using nvdebug::ContextSwitch;

/// The driver's record, which a test changes while Turns reads it.
struct Record {
    std::vector<ContextSwitch> switches = {};
    std::uint64_t dropped = 0, now = 1'000;
    bool is_gone = false;
};

class MadeUp : public nvdebug::SwitchReader {
  public:
    explicit MadeUp(std::shared_ptr<Record> record) : record_(std::move(record)) {}
    nvdebug::Result<std::uint64_t> read(std::vector<ContextSwitch> &to) override {
        if (record_->is_gone)
            return tl::unexpected(
                nvdebug::Error{nvdebug::ErrorCode::gone, 0, "", "the GPU is gone"});
        const auto some = std::exchange(record_->switches, {});
        to.insert(to.end(), some.begin(), some.end());
        return record_->dropped;
    }
    nvdebug::Result<std::uint64_t> now_ns() override { return record_->now; }
    nvdebug::Process process(std::uint32_t pid) override { return {pid, {}, {}, {}, pid * 10}; }

  private:
    const std::shared_ptr<Record> record_;
};

class TurnsOf : public testing::Test {
  protected:
    /// Adds a turn to the record.
    void add(std::uint64_t begin, std::uint64_t end, std::uint32_t pid, std::uint32_t context) {
        record->switches.push_back({begin, true, context, pid});
        if (end)
            record->switches.push_back({end, false, context, pid});
    }
    Turns::Batch read() {
        auto batch = turns.read();
        EXPECT_TRUE(batch);
        return batch.value_or(Turns::Batch());
    }

    std::shared_ptr<Record> record = std::make_shared<Record>();
    qos::Ns local = 0;
    Turns turns{std::make_unique<MadeUp>(record), [this] { return local; }};
};

TEST_F(TurnsOf, AreReadInTheOrderOfTime) {
    ASSERT_TRUE(turns.read_clock());
    EXPECT_EQ(turns.now(), 1'000);
    turns.begin();
    add(1'100, 1'200, 7, 1);
    add(1'200, 1'500, 8, 2);
    const auto batch = read();
    ASSERT_EQ(batch.turns.size(), 2U);
    EXPECT_FALSE(batch.has_gap);
    EXPECT_EQ(batch.turns[0].pid, 7U);
    EXPECT_EQ(batch.turns[1].begin, 1'200);
    EXPECT_EQ(batch.turns[1].end, 1'500);
    EXPECT_TRUE(batch.turns[1].ends);
    EXPECT_EQ(turns.now(), 1'500) << "a switch is later than the clock was";
    EXPECT_EQ(turns.started(7), 70U);
}

TEST_F(TurnsOf, LongTurnsAreReadInParts) {
    ASSERT_TRUE(turns.read_clock());
    turns.begin();
    add(1'000, 0, 7, 1);
    record->now = local = 2'000'000'000;
    ASSERT_TRUE(turns.read_clock());
    const auto first = read();
    ASSERT_EQ(first.turns.size(), 1U);
    EXPECT_FALSE(first.turns[0].ends);
    EXPECT_FALSE(first.turns[0].continues);
    EXPECT_TRUE(first.turns[0].is_of_unknown);
    record->switches.push_back({2'000'000'400, false, 1, 7});
    const auto second = read();
    ASSERT_EQ(second.turns.size(), 1U);
    EXPECT_TRUE(second.turns[0].continues);
    EXPECT_TRUE(second.turns[0].ends);
    EXPECT_FALSE(second.turns[0].is_of_unknown);
    EXPECT_EQ(second.turns[0].begin, 2'000'000'000);
}

TEST_F(TurnsOf, TheDriverAndHiddenProcessesHaveNone) {
    ASSERT_TRUE(turns.read_clock());
    turns.begin();
    add(1'100, 1'200, 0, 1);
    add(1'200, 1'300, 0xffffffff, 2);
    EXPECT_TRUE(read().turns.empty());
}

TEST_F(TurnsOf, LostSwitchesAreAGap) {
    ASSERT_TRUE(turns.read_clock());
    turns.begin();
    add(1'100, 1'200, 7, 1);
    EXPECT_FALSE(read().has_gap);
    EXPECT_TRUE(turns.has_switches());
    record->dropped = 5;
    EXPECT_TRUE(read().has_gap);
    EXPECT_EQ(turns.lost(), 5U);
    EXPECT_FALSE(turns.has_switches());
    EXPECT_FALSE(read().has_gap) << "it was returned once";
}

TEST_F(TurnsOf, AGoneGpuIsAFailure) {
    ASSERT_TRUE(turns.read_clock());
    record->is_gone = true;
    const auto batch = turns.read();
    ASSERT_FALSE(batch);
    EXPECT_EQ(batch.error().exit, failed);
    EXPECT_EQ(batch.error().sentence, "the GPU is gone");
}

} // namespace
} // namespace nvqos
