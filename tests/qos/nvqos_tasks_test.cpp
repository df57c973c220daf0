// SPDX-License-Identifier: MIT OR GPL-2.0
// The tasks on a GPU behind the stand-in, and their tenants. There are no turns, levers and
// governor.
#include "served.hpp"

#include "tools/nvqos/keep/tasks.hpp"

namespace served {
namespace {

using nvqos::Tasks;
using qos::ms;

class FoundTasks : public Served {
  protected:
    void find(const std::vector<std::string> &words, Tasks::Options options = {}) {
        nvqos::Goals goals;
        for (const std::string &word : words)
            ASSERT_TRUE(nvqos::add_word(word, goals));
        tenants.emplace(goals, 0);
        options.patience = driver_test::plenty;
        options.searches = std::launch::deferred;
        options.runlist = 0;
        options.started = [this](std::uint32_t pid) { return kernel.processes[pid].started; };
        tasks.emplace(gpu, *tenants, options, warnings);
        ASSERT_TRUE(tasks->find_all(0));
    }

    /// Makes all searches that are due at @p now.
    void search(Ns now) {
        tasks->search(now);
        while (tasks->is_searching()) {
            const auto found = tasks->take_result();
            ASSERT_TRUE(found);
            if (*found)
                tasks->take_found(**found);
            tasks->search(now);
        }
    }

    std::vector<std::string> said;
    nvqos::Warnings warnings{[this](const std::string &text) { said.push_back(text); }, 3};
    std::optional<nvqos::Tenants> tenants;
    std::optional<Tasks> tasks;
};

TEST_F(FoundTasks, AreHeldAndAssigned) {
    find({"558=cap:30%"});
    EXPECT_EQ(tasks->count(0), 1U);
    EXPECT_EQ(tasks->held(0), 1U);
    EXPECT_EQ(tasks->all().at(558).tenant, 0U);
    EXPECT_EQ(tasks->all().at(557).tenant, tenants->others());
    EXPECT_EQ(tasks->tsgs(), (std::vector<std::int64_t>{1, 1}));
}

TEST_F(FoundTasks, AreNotHeldWithoutGoalsOrWithADryRun) {
    find({});
    EXPECT_EQ(tasks->count(0), 2U);
    EXPECT_EQ(tasks->held(0), 0U);
    find({"558=cap:30%"}, {.holds = false});
    EXPECT_TRUE(tasks->all().at(558).holds.empty());
    EXPECT_EQ(tasks->held(0), 1U) << "it would be held";
    EXPECT_EQ(kernel.asked_to_change, 0U);
}

TEST_F(FoundTasks, AreCountedByContainer) {
    const std::string id(64, 'c'), uid = "01234567-89ab-4def-8123-456789abcdef";
    kernel.processes[557].cgroup = "0::/kubepods/pod" + uid + "/" + id + "\n";
    kernel.processes[558].cgroup = "0::/kubepods/pod" + uid + "/" + id + "\n";
    find({});
    const auto both = tasks->containers(0);
    ASSERT_EQ(both.size(), 1U);
    EXPECT_EQ(both[0].tasks, 2U);
    EXPECT_EQ(both[0].id.container, id);
    EXPECT_EQ(both[0].id.pod, uid);
    kernel.processes[558].cgroup = "0::/docker/" + std::string(64, 'd') + "\n";
    find({"557=cap:30%"});
    EXPECT_EQ(tasks->containers(0).size(), 1U);
    EXPECT_EQ(tasks->containers(1).at(0).id, nvdebug::Identity{.container = std::string(64, 'd')});
    kernel.processes[557].cgroup = "0::/user.slice\n";
    find({"557=cap:30%"});
    EXPECT_TRUE(tasks->containers(0).empty());
}

TEST_F(FoundTasks, AnUnknownProcessIsSearchedFor) {
    find({"600=cap:30%"});
    const std::uint64_t before = kernel.questions;
    search(200 * ms);
    EXPECT_EQ(kernel.questions, before) << "nothing has come";
    add_third(600, nullptr);
    const qos::TenantTurn turn = tasks->take({600, 9, 100, 200, true, false, true});
    EXPECT_EQ(turn.tenant, 0U);
    EXPECT_EQ(tasks->tsgs(), (std::vector<std::int64_t>{0, 2}))
        << "it counts once it was searched for";
    search(400 * ms);
    EXPECT_EQ(tasks->held(0), 1U);
    EXPECT_EQ(tasks->tsgs(), (std::vector<std::int64_t>{1, 2}));
}

TEST_F(FoundTasks, APausedTasksTurnEndsWithThePause) {
    find({"557=cap:30%"});
    tasks->all().at(557).asked.paused_since = 150;
    EXPECT_EQ(tasks->take({557, 1, 100, 200, true, true, false}).end, 150);
    EXPECT_EQ(tasks->take({557, 1, 300, 400, true, false, false}).end, 400) << "it began later";
}

TEST_F(FoundTasks, AReusedPidIsNotTheTenant) {
    find({"557=cap:30%"});
    kernel.end_process(557);
    kernel.add_process(557, {instances[0]});
    kernel.processes[557].started = 77;
    search(61 * qos::second);
    EXPECT_EQ(tasks->count(0), 0U);
    EXPECT_EQ(tasks->count(1), 2U);
}

TEST_F(FoundTasks, AnEndedTaskIsGivenUpWithoutAWarning) {
    find({"557=cap:30%", "558=cap:30%"});
    tasks->give_up(tasks->all().at(557), {nvdebug::ErrorCode::not_found, 0, "", "it has ended"});
    EXPECT_EQ(tasks->tsgs(), (std::vector<std::int64_t>{0, 1, 0}));
    EXPECT_TRUE(said.empty());
    for (int n = 0; n < 2; n++)
        tasks->give_up(tasks->all().at(558), {nvdebug::ErrorCode::timeout, 0, "", "no answer"});
    EXPECT_EQ(said, std::vector<std::string>{"gpu3: two[558]: no answer"}) << "once";
    EXPECT_EQ(tasks->tsgs(), (std::vector<std::int64_t>{0, 1, 0}));
    search(200 * ms);
    EXPECT_EQ(tasks->held(1), 1U) << "it is held again";
}

TEST_F(FoundTasks, OtherTenantsTakeThemOver) {
    find({"557=cap:30%"});
    nvqos::Goals goals;
    ASSERT_TRUE(nvqos::add_word("command:two=share:20%", goals));
    tenants->replace(goals, 0);
    tasks->assign_tenants();
    EXPECT_EQ(tasks->all().at(558).tenant, 0U);
    EXPECT_EQ(tasks->all().at(557).tenant, 1U);
}

} // namespace
} // namespace served
