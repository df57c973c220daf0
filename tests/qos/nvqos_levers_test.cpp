// SPDX-License-Identifier: MIT OR GPL-2.0
// The requests of Levers to tasks with made-up holds. There are no searches, turns and
// governor.
#include "served.hpp"

#include "tools/nvqos/keep/launch_levers.hpp"
#include "tools/nvqos/keep/levers.hpp"

namespace served {
namespace {

using nvdebug::TaskState;
using qos::ms;

/// A hold that notes the requests to it.
class NotedHold : public nvdebug::TaskHold {
  public:
    struct Notes {
        std::vector<TaskState> asked = {};
        std::size_t finished = 0;
        std::optional<nvdebug::Error> error = {}; ///< of finish()
    };
    explicit NotedHold(std::shared_ptr<Notes> notes) : notes_(std::move(notes)) {}
    nvdebug::Result<void> ask(const TaskState &wanted) override {
        notes_->asked.push_back(wanted);
        return {};
    }
    nvdebug::Result<void> finish() override {
        notes_->finished++;
        if (notes_->error)
            return tl::unexpected(*notes_->error);
        return {};
    }
    std::size_t tsgs() const override { return 1; }
    const std::vector<nvdebug::HeldChannel> &channels() const override { return channels_; }

  private:
    const std::shared_ptr<Notes> notes_;
    const std::vector<nvdebug::HeldChannel> channels_ = {{1, 1}};
};

class SetLevers : public Served {
  protected:
    void hold(const std::string &goal) {
        nvqos::Goals goals;
        ASSERT_TRUE(nvqos::add_word("557=" + goal, goals));
        tenants.emplace(goals, 0);
        tasks.emplace(gpu, *tenants, nvqos::Tasks::Options{}, warnings);
        nvqos::Task &task = tasks->all()[557];
        task.recorded = true;
        task.holds.push_back(std::make_unique<NotedHold>(notes));
        levers.emplace(*tasks, *tenants, 250 * ms, [this] { return confirmed; });
    }
    nvqos::Levers::Pauses set(Ns now, const nvqos::WantedLever &lever, bool has_switches = true) {
        return levers->set(std::vector<nvqos::WantedLever>{lever, {}}, {now, due, has_switches});
    }

    std::shared_ptr<NotedHold::Notes> notes = std::make_shared<NotedHold::Notes>();
    std::vector<std::string> said;
    nvqos::Warnings warnings{[this](const std::string &text) { said.push_back(text); }, 0};
    std::optional<nvqos::Tenants> tenants;
    std::optional<nvqos::Tasks> tasks;
    std::optional<nvqos::Levers> levers;
    Ns confirmed = 0; ///< the GPU's time when the driver has confirmed a request
    Ns due = 0;
};

TEST_F(SetLevers, AskWhenSomethingChangesAndOnEachBeat) {
    hold("share:30%");
    set(0, {3 * ms, false});
    ASSERT_EQ(notes->asked.size(), 1U);
    EXPECT_EQ(notes->asked[0], (TaskState{.timeslice_ns = 3'000'000}));
    EXPECT_EQ(notes->finished, 1U);
    set(100 * ms, {3 * ms, false});
    EXPECT_EQ(notes->asked.size(), 1U) << "nothing is new";
    set(100 * ms, {3 * ms + 1 * qos::us, false});
    EXPECT_EQ(notes->asked.size(), 1U) << "less than 1 % is not worth a request";
    set(110 * ms, {4 * ms, false});
    EXPECT_EQ(notes->asked.size(), 2U);
    set(360 * ms, {4 * ms, false});
    EXPECT_EQ(notes->asked.size(), 3U) << "a beat";
}

TEST_F(SetLevers, LeverWithoutATimesliceAsksForNone) {
    hold("cap:30%");
    set(0, {std::nullopt, false});
    ASSERT_EQ(notes->asked.size(), 1U);
    EXPECT_EQ(notes->asked[0], TaskState{});
}

TEST_F(SetLevers, APauseBeginsWhenItIsConfirmed) {
    hold("cap:30%");
    due = 99 * ms;
    confirmed = 101 * ms;
    const auto begun = set(100 * ms, {0, true});
    EXPECT_EQ(begun.tenants, std::vector<std::size_t>{0});
    EXPECT_EQ(begun.takes, 2 * ms) << "from when the step was due";
    EXPECT_EQ(tasks->all().at(557).asked.paused_since, 101 * ms);
    confirmed = 500 * ms;
    const auto later = set(400 * ms, {0, true});
    EXPECT_TRUE(later.tenants.empty()) << "it goes on";
    EXPECT_FALSE(later.takes);
    EXPECT_EQ(tasks->all().at(557).asked.paused_since, 101 * ms);
    const std::vector<nvqos::WantedLever> resumed(2);
    EXPECT_TRUE(levers->ends_pause(resumed));
    set(500 * ms, {0, false});
    EXPECT_FALSE(tasks->all().at(557).asked.paused_since);
    EXPECT_FALSE(levers->ends_pause(resumed));
}

TEST_F(SetLevers, ATaskThatNoSwitchShowsIsPausedForAMoment) {
    hold("cap:30%");
    tasks->all().at(557).recorded = false;
    set(0, {});
    ASSERT_EQ(notes->asked.size(), 3U);
    EXPECT_TRUE(notes->asked[0].paused);
    EXPECT_FALSE(notes->asked[1].paused);
    set(10 * ms, {});
    EXPECT_EQ(notes->asked.size(), 3U) << "once";
}

TEST_F(SetLevers, ASilentShareIsPausedAfterAnEpoch) {
    hold("share:30%");
    tasks->all().at(557).recorded = false;
    set(50 * ms, {3 * ms, false}, false);
    EXPECT_EQ(notes->asked.size(), 1U) << "no epoch has passed";
    set(100 * ms, {3 * ms, false}, true);
    EXPECT_EQ(notes->asked.size(), 1U) << "other tasks are on the record";
    set(100 * ms, {3 * ms, false}, false);
    EXPECT_EQ(notes->asked.size(), 4U);
}

TEST_F(SetLevers, ATaskThatCannotBeChangedIsGivenUp) {
    hold("cap:30%");
    notes->error = nvdebug::Error{nvdebug::ErrorCode::not_found, 0, "", "it has ended"};
    const auto begun = set(0, {0, true});
    EXPECT_TRUE(begun.tenants.empty());
    EXPECT_TRUE(tasks->all().at(557).holds.empty());
    EXPECT_TRUE(tasks->all().at(557).is_gone);
}

/// Tasks that nvtaskset did not start: nothing can be done about their launches.
class UnseenLaunches : public SetLevers {
  protected:
    void keep(const std::string &goal) {
        hold(goal);
        nvqos::Task &task = tasks->all().at(557);
        task.process = {557, "serve", {}, {}, 10};
        task.has_turns = true;
        task.why_not = "serve[557] cannot be changed";
        levers_of_launches.emplace("0000:01:00.0", driver_test::plenty, *tasks, *tenants, warnings);
        levers_of_launches->keep();
        levers_of_launches->keep();
    }

    std::optional<nvqos::LaunchLevers> levers_of_launches;
};

TEST_F(UnseenLaunches, AreWarnedOfOnce) {
    keep("latency:5ms");
    ASSERT_EQ(said.size(), 2U);
    EXPECT_EQ(said[0], "gpu0: serve[557] cannot be changed") << "launches do not help either";
    EXPECT_TRUE(
        said[1].starts_with("gpu0: whether requests of 557 take more than 5 ms is not seen"))
        << said[1];
}

TEST_F(UnseenLaunches, LeaveReportsAsTheyAre) {
    keep("share:30%");
    EXPECT_EQ(said.size(), 1U);
    qos::EpochRecord epoch{0, 100 * ms, 10 * ms, false, {}};
    epoch.tenants.resize(2, {{}, {}, {}, true});
    levers_of_launches->judge(epoch);
    EXPECT_TRUE(epoch.tenants[0].kept);
    nvqos::TenantReport line{};
    levers_of_launches->describe(0, line);
    EXPECT_EQ(line.limited.tasks, 0U);
    EXPECT_EQ(line.paced, 0U);
    EXPECT_FALSE(line.pace || line.requests || levers_of_launches->has_recent_request(0));
}

} // namespace
} // namespace served
