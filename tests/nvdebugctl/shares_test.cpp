// SPDX-License-Identifier: MIT OR GPL-2.0
#include "task/shares.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <unistd.h>

namespace nvdebugctl {
namespace {

constexpr std::uint64_t us = 1000, overrun = 103 * us;

/// Returns each tenant's part of a round, and the part of each TSG without a tenant (-1 - its
/// place).
std::map<int, double> parts(const std::vector<Competitor> &all,
                            const std::vector<nvdebug::TsgTimeslice> &slices) {
    double round = 0;
    std::map<int, double> found;
    for (std::size_t n = 0; n < all.size(); n++) {
        const double turn = static_cast<double>(slices[n].ns + overrun) * all[n].headers;
        const int who = all[n].tenant ? static_cast<int>(*all[n].tenant) : -1 - static_cast<int>(n);
        found[who] += turn;
        round += turn;
    }
    for (auto &[who, part] : found)
        part /= round;
    return found;
}

Competitor one(std::uint32_t id, std::uint64_t slice_us, std::optional<std::size_t> tenant = {},
               std::uint32_t headers = 1) {
    return {{0, id}, slice_us * us, headers, tenant};
}

TEST(Shares, AreParsed) {
    EXPECT_EQ(parse_shares("25%"), Shares{0.25});
    EXPECT_EQ(parse_shares("0.5%,50%"), (Shares{0.005, 0.5}));
    for (const char *const text : {"25", "0%", "100%", "-1%", "%", "x%", "1e1%", "25  x%", "nan%",
                                   "", ",25%", "25%,", "25%,,25%", "25% 25%"})
        EXPECT_EQ(parse_shares(text), std::nullopt) << text;
}

TEST(Shares, OneTenantAmongTwoTasksGetsItsShare) {
    const std::vector<Competitor> all = {one(0, 2048, 0), one(1, 2048)};
    const auto slices = timeslices_for(all, {0.25});
    ASSERT_TRUE(slices);
    // (2048 + 103) * 2 is 4302
    EXPECT_EQ(slices->at(0).ns, 973 * us);
    EXPECT_EQ(slices->at(1).ns, 3124 * us) << "a round is as long as before";
    EXPECT_EQ(slices->at(1).tsg, (nvdebug::Target{0, 1}));
}

TEST(Shares, OthersKeepTheirWeights) {
    const std::vector<Competitor> all = {one(0, 1897, 0), one(1, 897), one(2, 2897)};
    const auto slices = timeslices_for(all, {0.5});
    ASSERT_TRUE(slices);
    EXPECT_EQ(slices->at(0).ns, 2897 * us);
    EXPECT_EQ(slices->at(1).ns, 647 * us);
    EXPECT_EQ(slices->at(2).ns, 2147 * us);
}

TEST(Shares, MoreTsgsGetNoMoreTime) {
    const auto few = parts({one(0, 2048, 0), one(1, 2048)},
                           *timeslices_for({one(0, 2048, 0), one(1, 2048)}, {0.25}));
    const std::vector<Competitor> all = {one(0, 2048, 0), one(1, 2048, 0), one(2, 2048, 0),
                                         one(3, 2048)};
    const auto slices = timeslices_for(all, {0.25});
    ASSERT_TRUE(slices);
    EXPECT_NEAR(parts(all, *slices)[0], few.at(0), 1e-3);
    EXPECT_EQ(slices->at(0).ns, slices->at(2).ns);
}

TEST(Shares, RepeatedTsgGetsHalfATurn) {
    const std::vector<Competitor> all = {one(0, 2000, 0, 2), one(1, 2000)};
    const auto slices = timeslices_for(all, {0.5});
    ASSERT_TRUE(slices);
    EXPECT_NEAR(static_cast<double>((slices->at(0).ns + overrun) * 2),
                static_cast<double>(slices->at(1).ns + overrun), 2 * us);
}

TEST(Shares, NoTurnIsTooShort) {
    const std::vector<Competitor> all = {one(0, 500, 0), one(1, 500)};
    const auto slices = timeslices_for(all, {0.01});
    ASSERT_TRUE(slices);
    EXPECT_EQ(slices->at(0).ns, 500 * us);
    EXPECT_EQ(slices->at(1).ns, (603 * 99 - 103) * us);
}

TEST(Shares, AreRefusedIfImpossible) {
    EXPECT_FALSE(timeslices_for({one(0, 2048, 0)}, {0.5})) << "nobody else";
    EXPECT_FALSE(timeslices_for({one(0, 2048)}, {0.5})) << "no tenant";
    EXPECT_FALSE(timeslices_for({}, {0.5}));
    EXPECT_FALSE(timeslices_for({one(0, 2048, 0), one(1, 2048, 1), one(2, 2048)}, {0.5}));
    EXPECT_FALSE(timeslices_for({one(0, 2048, 0), one(1, 2048)}, {0.00001})) << "more than 1 s";
}

TEST(Shares, EachTenantGetsItsOwnShare) {
    std::vector<Competitor> all = {one(0, 2048, 0), one(1, 2048, 1), one(2, 2048, 1), one(3, 900),
                                   one(4, 1100)};
    const auto slices = timeslices_for(all, {0.2, 0.5});
    ASSERT_TRUE(slices);
    const auto found = parts(all, *slices);
    EXPECT_NEAR(found.at(0), 0.2, 1e-3);
    EXPECT_NEAR(found.at(1), 0.5, 1e-3);
    EXPECT_NEAR(found.at(-4) + found.at(-5), 0.3, 1e-3);
    EXPECT_NEAR(found.at(-5) / found.at(-4), 1203.0 / 1003, 1e-2);
}

TEST(Shares, MustFillTheRoundWithoutOtherTasks) {
    const std::vector<Competitor> all = {one(0, 2048, 0), one(1, 2048, 1)};
    const auto slices = timeslices_for(all, {0.3, 0.7});
    ASSERT_TRUE(slices);
    EXPECT_NEAR(parts(all, *slices).at(0), 0.3, 1e-3);
    EXPECT_NE(timeslices_for(all, {0.3, 0.6}).error().error.sentence.find("not 90%"),
              std::string::npos);
    EXPECT_FALSE(timeslices_for({one(0, 2048, 0), one(1, 2048, 1), one(2, 2048)}, {0.3, 0.7}));
}

TEST(Shares, AreGivenByOneProcessAtATime) {
    const std::string folder = ::testing::TempDir(), name = "test-" + std::to_string(::getpid());
    auto claim = claim_shares(folder, name);
    ASSERT_TRUE(claim);
    ASSERT_FALSE(claim_shares(folder, name));
    EXPECT_EQ(claim_shares(folder, name).error().error.code, nvdebug::ErrorCode::busy);
    EXPECT_TRUE(claim_shares(folder, name + "1")) << "another GPU";
    claim->reset();
    EXPECT_TRUE(claim_shares(folder, name));
    EXPECT_TRUE(claim_shares("/proc/nonexistent", name));
}

TEST(Shares, ComeOutForRandomTasks) {
    std::mt19937 random(1); // NOLINT: the same each time
    for (int round = 0; round < 500; round++) {
        std::vector<Competitor> all;
        const std::size_t tenants = 1 + random() % 3, count = tenants + 1 + random() % 60;
        for (std::uint32_t n = 0; n < count; n++) {
            std::optional<std::size_t> tenant;
            if (n < tenants)
                tenant = n;
            else if (n != tenants && random() % 3 == 0)
                tenant = random() % tenants;
            all.push_back(one(n, 100 + random() % 20'000, tenant, 1 + random() % 3));
        }
        const double share = 0.01 + static_cast<double>(random() % 30) / 100;
        const auto slices = timeslices_for(all, {share});
        if (!slices) {
            EXPECT_GE(share * static_cast<double>(tenants), 0.8);
            continue;
        }
        for (const auto &[who, part] : parts(all, *slices))
            if (who >= 0) {
                EXPECT_NEAR(part, share, share / 50) << round;
            }
        for (const auto &slice : *slices)
            EXPECT_GE(slice.ns, 499 * us);
    }
}

} // namespace
} // namespace nvdebugctl
