// SPDX-License-Identifier: MIT OR GPL-2.0
// Windows by the clock in nvqos: two nodes with clocks that differ, and a clock that fails. All times
// are simulated.
#include "tools/nvqos/keep/clock_windows.hpp"
#include "tools/nvqos/metrics.hpp"
#include "tools/nvqos/refusal.hpp"
#include "tools/nvqos/report.hpp"

#include <gtest/gtest.h>
#include <sys/timex.h>
#include <utility>

namespace nvqos {
namespace {

using namespace qos;

TenantOnGpu of_nodes(const std::string &name, const std::string &goal = "best-effort") {
    return {.name = name, .goal = *parse_goal(goal), .is_on_other_nodes = true};
}

/// A node that carries orders out at once. Its clock is ahead of the true time.
struct Node {
    Ns time = 0;
    const Ns ahead;
    ClockWindows windows{NodeClock{.now = [this] { return time + ahead; }}};
    bool is_usable = true;
    ClockWindows::Tenants tenants = {};
    std::map<std::uint32_t, std::map<std::string, WindowLever>> levers = {}; ///< by GPU, tenant
    /// The true times at which a tenant began to hold the GPU 0, and the tenant.
    std::vector<std::pair<Ns, std::string>> begins = {};

    explicit Node(Ns clock_is_ahead) : ahead(clock_is_ahead) {}

    std::string holder_on(std::uint32_t gpu) {
        for (const auto &[name, lever] : levers[gpu])
            if (lever.timeslice == WindowSettings().holder_slice)
                return name;
        return "";
    }
    void run_until(Ns end) {
        for (; time < end; time += 100 * us) {
            windows.set_tenants(tenants, is_usable);
            if (windows.wait() > 0)
                continue;
            const std::string before = holder_on(0);
            for (const WindowOrder &order : windows.step()) {
                levers[order.gpu].clear();
                for (const auto half : {&WindowOrder::first, &WindowOrder::then})
                    for (const TenantLever &one : order.*half)
                        levers[order.gpu][one.tenant] = one.lever;
            }
            if (const std::string now = holder_on(0); now != before)
                begins.emplace_back(time, now);
        }
    }
};

/// The second node starts late, and numbers its GPUs in another way.
TEST(ClockWindows, DifferBetweenTwoNodesByTheDifferenceOfTheirClocks) {
    Node one(0), other(ms);
    one.tenants[0] = one.tenants[1] = {of_nodes("big", "share:60%"), of_nodes("small")};
    one.run_until(10 * second);
    other.time = 3 * second + 217 * ms;
    other.tenants[0] = other.tenants[3] = {of_nodes("small"), of_nodes("big", "share:60%")};
    other.run_until(10 * second - ms);
    std::erase_if(one.begins, [](const auto &begin) { return begin.first < 4 * second; });
    std::erase_if(other.begins, [](const auto &begin) { return begin.first < 4 * second - ms; });
    ASSERT_GT(one.begins.size(), 80U);
    ASSERT_EQ(one.begins.size(), other.begins.size());
    for (std::size_t n = 0; n < other.begins.size(); n++) {
        EXPECT_EQ(one.begins[n].first - other.begins[n].first, ms);
        EXPECT_EQ(one.begins[n].second, other.begins[n].second);
    }
    EXPECT_EQ(one.windows.report("big")->why, other.windows.report("big")->why);
    EXPECT_EQ(one.windows.report("big")->why,
              "a gang of several nodes, with windows by the clock on 2 GPUs: from 0 to 75 of each "
              "125 ms");
    EXPECT_TRUE(one.windows.report("small")->has_windows);
}

TEST(ClockWindows, NodesAgreeAgainFromTheSecondAfterAJobHasCome) {
    Node one(0), other(ms);
    for (Node *const node : {&one, &other}) {
        node->tenants[0] = {of_nodes("a"), of_nodes("b")};
        node->run_until(2 * second + (node == &one ? 100 : 700) * ms);
        node->tenants[0].push_back(of_nodes("c"));
        node->begins.clear();
        node->run_until(6 * second - node->ahead);
        std::erase_if(node->begins,
                      [&](const auto &begin) { return begin.first < 3500 * ms - node->ahead; });
    }
    ASSERT_GT(one.begins.size(), 30U);
    ASSERT_EQ(one.begins.size(), other.begins.size());
    for (std::size_t n = 0; n < one.begins.size(); n++) {
        EXPECT_EQ(one.begins[n].first - other.begins[n].first, ms);
        EXPECT_EQ(one.begins[n].second, other.begins[n].second);
    }
}

TEST(ClockWindows, EndWithTheSecondInWhichTheClockFails) {
    Node node(0);
    node.tenants[0] = {of_nodes("a"), of_nodes("b")};
    node.run_until(1300 * ms);
    EXPECT_EQ(node.windows.gpus(), std::vector<std::uint32_t>{0});
    node.is_usable = false;
    node.run_until(1900 * ms);
    EXPECT_EQ(node.windows.gpus(), std::vector<std::uint32_t>{0});
    node.run_until(2 * second + ms);
    EXPECT_TRUE(node.windows.gpus().empty());
    EXPECT_TRUE(node.levers[0].empty()) << "the governor decides";
    EXPECT_EQ(node.windows.report("a"), std::nullopt);
    node.is_usable = true;
    node.run_until(3 * second + ms);
    EXPECT_EQ(node.windows.gpus(), std::vector<std::uint32_t>{0});
}

/// Ranks of "c" do not wait for each other, and share the GPU 1 alone with a job of several nodes.
TEST(ClockWindows, TenantsOfOneNodeHaveWhatTheyLeave) {
    Node node(0);
    const TenantOnGpu alone{.name = "c", .is_gang = false};
    node.tenants[1] = {of_nodes("a", "cap:40%"), alone};
    node.tenants[2] = {alone};
    node.run_until(second);
    EXPECT_EQ(node.windows.gpus(), std::vector<std::uint32_t>{1});
    EXPECT_TRUE(node.levers[1].contains("c")) << "it has its name in orders";
    EXPECT_EQ(node.windows.report("c"), std::nullopt) << "it is no gang";
    node.tenants[1] = {of_nodes("a", "cap:40%"), {.name = "c"}};
    node.run_until(3 * second);
    ASSERT_TRUE(node.windows.report("c"));
    EXPECT_EQ(node.windows.report("c")->why,
              "has windows in the time that tenants of several nodes leave");
    node.tenants[1] = {of_nodes("a"), {.name = "c"}};
    node.run_until(5 * second);
    EXPECT_EQ(node.windows.report("c")->why,
              "has only the time that tenants of several nodes leave");
    EXPECT_FALSE(node.windows.report("c")->has_windows);
}

TEST(ClockWindows, AreNotThereForTenantsOfOneNode) {
    Node node(0);
    node.tenants[0] = node.tenants[1] = {{.name = "a"}, {.name = "b"}};
    node.run_until(2 * second);
    EXPECT_TRUE(node.windows.gpus().empty() && node.begins.empty());
    EXPECT_EQ(node.windows.wait(), std::numeric_limits<Ns>::max());
}

/// A clock with this error; below 0: it is not synchronised.
NodeClock clock_with(const long &error_us) {
    return {.state = [&error_us](timex *state) {
        *state = {};
        state->maxerror = std::max(0L, error_us);
        state->status = error_us < 0 ? STA_UNSYNC : 0;
        state->tai = 37;
        return error_us < 0 ? TIME_ERROR : TIME_OK;
    }};
}

TEST(ClockJudge, TakesAClockAgainThatHasAgreedForAMinute) {
    long error_us = 1600;
    ClockJudge judge(clock_with(error_us));
    EXPECT_EQ(text_of(judge.verdict()), "windows by the clock: the clocks of nodes may differ by "
                                        "3.20 ms; windows of 50.0 ms lose about 6 %");
    EXPECT_FALSE(judge.look(100 * second));
    error_us = 5001;
    EXPECT_FALSE(judge.look(100 * second + 1)) << "it was looked at just now";
    EXPECT_TRUE(judge.look(101 * second));
    EXPECT_FALSE(judge.verdict().is_usable);
    EXPECT_EQ(judge.verdict().difference_ns, 10'002'000);
    error_us = 1600;
    EXPECT_FALSE(judge.look(102 * second));
    EXPECT_NE(text_of(judge.verdict()).find("failed in the last minute"), std::string::npos);
    EXPECT_FALSE(judge.look(160 * second));
    EXPECT_TRUE(judge.look(161 * second));
    EXPECT_TRUE(judge.verdict().is_usable);
    error_us = -1;
    EXPECT_TRUE(judge.look(162 * second));
    EXPECT_EQ(judge.verdict().difference_ns, std::nullopt);
    EXPECT_TRUE(text_of(judge.verdict())
                    .starts_with("no windows by the clock: the clock of this "
                                 "node is not synchronised"));
}

Goals goals_of_words(std::initializer_list<const char *> words) {
    Goals goals;
    for (const char *const word : words)
        EXPECT_TRUE(add_word(word, goals)) << word;
    return goals;
}

TEST(Refusals, NamePromisesThatWindowsByTheClockLeaveNoTimeFor) {
    const auto refused = refusals_of(goals_of_words({"1=best-effort,gang=nodes", "2=share:30%"}));
    ASSERT_EQ(refused.size(), 1U);
    EXPECT_EQ(refused[0],
              "2 (share 30 %) cannot be kept beside 1 (gang=nodes): of the time on its GPUs, "
              "windows by the clock leave 0 % to tenants of one node, and they set timeslices; ask "
              "for best-effort, or for other GPUs");
    EXPECT_EQ(refusals_of(goals_of_words({"1=gang=nodes", "2=timeslice:2ms"})).size(), 1U);
    EXPECT_TRUE(refusals_of(goals_of_words({"1=cap:50%,gang=nodes", "2=share:30%"})).empty())
        << "its cap leaves time";
    EXPECT_TRUE(refusals_of(goals_of_words({"1=share:60%,gang=nodes", "2=share:30%,gang=nodes",
                                            "3=best-effort", "4=latency"}))
                    .empty());
    EXPECT_TRUE(refusals_of(goals_of_words({"1=share:60%", "2=timeslice:2ms"})).empty());
}

TEST(Metrics, HaveTheClockWhereATenantNeedsIt) {
    Metrics metrics;
    EXPECT_EQ(metrics.text().find("clock"), std::string::npos);
    metrics.set_clock(nvdebug::base::ClockVerdict{true, "", 3'200'000});
    EXPECT_NE(metrics.text().find("\nnvqos_clock_usable 1\n"), std::string::npos);
    EXPECT_NE(metrics.text().find("\nnvqos_clock_difference_seconds 0.0032\n"), std::string::npos);
    metrics.set_clock(nvdebug::base::ClockVerdict{false, ""});
    EXPECT_NE(metrics.text().find("\nnvqos_clock_usable 0\n"), std::string::npos);
    EXPECT_EQ(metrics.text().find("difference"), std::string::npos);
}

} // namespace
} // namespace nvqos
