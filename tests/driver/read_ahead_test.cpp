// SPDX-License-Identifier: MIT OR GPL-2.0
#include "lib/driver/read_ahead.hpp"

#include <gtest/gtest.h>
#include <map>
#include <random>

namespace {

using nvdebug::Result;
using nvdebug::driver::ReadAhead;

/// Registers that return the number of the call that read them, from 1.
class Clocked final : public nvdebug::driver::Words {
  public:
    Result<void> registers(std::span<const std::uint32_t> offsets,
                           std::span<std::uint32_t> values) override {
        calls++;
        if (refuse)
            return tl::unexpected(nvdebug::Error{nvdebug::ErrorCode::io, EIO, "", "refused"});
        for (std::size_t i = 0; i < offsets.size(); i++)
            offset_at[values[i] = ++now] = offsets[i];
        return {};
    }
    Result<void> memory(std::uint64_t, std::span<std::uint32_t>) override {
        ADD_FAILURE();
        return {};
    }

    unsigned calls = 0;
    bool refuse = false;
    std::uint32_t now = 0;
    std::map<std::uint32_t, std::uint32_t> offset_at;
};

class Reads : public testing::Test {
  protected:
    /// Returns how many calls one read of a file takes. 0 in @p offsets stands for memory.
    unsigned calls(const std::vector<std::uint32_t> &offsets) {
        const unsigned before = words.calls;
        ahead.begin(std::move(plan));
        std::uint32_t last = 0;
        for (const std::uint32_t offset : offsets) {
            if (!offset) {
                ahead.memory_is_read();
                last = words.now;
                continue;
            }
            const auto value = ahead.read(words, offset);
            EXPECT_TRUE(value);
            EXPECT_EQ(words.offset_at[*value], offset);
            EXPECT_GT(*value, last) << "older than what was read before";
            last = *value;
        }
        ahead.expect_no_more();
        plan = ahead.end();
        return words.calls - before;
    }

    Clocked words;
    ReadAhead ahead;
    ReadAhead::Plan plan;
};

TEST_F(Reads, AreOneCallTheSecondTime) {
    EXPECT_EQ(calls({4, 8, 4, 12}), 4U);
    EXPECT_EQ(calls({4, 8, 4, 12}), 1U);
}

TEST_F(Reads, AHundredRegistersAreOneCall) {
    std::vector<std::uint32_t> offsets;
    for (std::uint32_t i = 1; i <= 150; i++)
        offsets.push_back(4 * i);
    EXPECT_EQ(calls(offsets), 150U);
    EXPECT_EQ(calls(offsets), 2U);
}

/// An engine that is idle in one read may be busy in the next.
TEST_F(Reads, KeepSkippedRegistersInThePlan) {
    calls({4, 8, 12, 16});
    EXPECT_EQ(calls({4, 16}), 1U);
    EXPECT_EQ(calls({4, 8, 12, 16}), 1U);
}

TEST_F(Reads, AnUnplannedRegisterBeginsANewCall) {
    calls({4, 8, 12});
    EXPECT_EQ(calls({4, 20, 8, 12}), 3U);
    EXPECT_EQ(calls({4, 20, 8, 12}), 1U);
}

TEST_F(Reads, AreNewAfterMemory) {
    calls({4, 8, 0, 4, 8});
    EXPECT_EQ(calls({4, 8, 0, 4, 8}), 2U);
}

TEST_F(Reads, AnnouncedRegistersAreOneCall) {
    for (const std::uint32_t offset : {4U, 8U, 12U})
        ahead.expect(offset);
    EXPECT_EQ(calls({4, 8, 12, 4}), 2U);
}

TEST_F(Reads, RefusalsAreErrors) {
    calls({4, 8});
    words.refuse = true;
    ahead.begin(plan);
    EXPECT_FALSE(ahead.read(words, 4));
    words.refuse = false;
    EXPECT_TRUE(ahead.read(words, 4));
}

TEST_F(Reads, ValuesNeverGoBackInTime) {
    std::mt19937 random(1);
    for (int round = 0; round < 2000; round++) {
        std::vector<std::uint32_t> offsets;
        for (std::uint32_t i = 1; i < 60; i++)
            if (random() % 4)
                offsets.push_back(random() % 20 ? 4 * i : 4 * (random() % 60));
        for (std::size_t i = 0; i < random() % 30; i++)
            ahead.expect(4 * (1 + random() % 60));
        calls(offsets);
        EXPECT_LE(plan.size(), 2 * offsets.size());
    }
}

} // namespace
