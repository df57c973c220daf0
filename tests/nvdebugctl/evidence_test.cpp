// SPDX-License-Identifier: MIT OR GPL-2.0
#include <gtest/gtest.h>

#include "check/evidence.hpp"

namespace nvdebugctl {
namespace {

const std::vector<Measurement> rows = parse_evidence("rule,generation,machine,found\n"
                                                     "R4,Hopper,h100-1.2,holds\n"
                                                     "R4,Ada,l40-1.2,does not hold\n"
                                                     "R8,Ada,l40-1.2,in part\n");

TEST(Evidence, HasARowForEachMeasurement) {
    ASSERT_EQ(rows.size(), 3u);
    EXPECT_EQ(rows[1].rule, "R4");
    EXPECT_EQ(rows[1].generation, "Ada");
    EXPECT_EQ(rows[1].machine, "l40-1.2");
    EXPECT_EQ(rows[1].found, "does not hold");
}

TEST(Evidence, NearestPrefersThisGeneration) {
    const Measured found = nearest(rows, "R4", "Ada");
    EXPECT_EQ(found.where, Measured::Where::this_generation);
    ASSERT_EQ(found.on.size(), 1u);
    EXPECT_EQ(found.on[0].machine, "l40-1.2");
}

TEST(Evidence, NearestFallsBackToOtherGenerations) {
    const Measured found = nearest(rows, "R8", "Hopper");
    EXPECT_EQ(found.where, Measured::Where::other_generation);
    ASSERT_EQ(found.on.size(), 1u);
    EXPECT_EQ(found.on[0].found, "in part");
    EXPECT_EQ(nearest(rows, "R4", std::nullopt).on.size(), 2u);
}

TEST(Evidence, NearestIsNeverWithoutMeasurements) {
    const Measured found = nearest(rows, "R5", "Hopper");
    EXPECT_EQ(found.where, Measured::Where::never);
    EXPECT_TRUE(found.on.empty());
}

TEST(Evidence, BuiltInRowsHaveEachRule) {
    for (const char *rule : {"R1", "R2", "R3", "R4", "R5", "R6", "R7", "R8"})
        EXPECT_EQ(nearest(evidence(), rule, "Hopper").where, Measured::Where::this_generation);
}

} // namespace
} // namespace nvdebugctl
