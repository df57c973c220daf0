// SPDX-License-Identifier: MIT OR GPL-2.0
// The effects of requests on tasks: how much of the GPU's time each task gets.
// tests/module/test_control.py and tests/module/test_runlist_control.py have the way of requests to
// the GPU, their users, and the lines that the kernel logs and traces.
#include "bench.hpp"
#include "text.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <vector>

namespace core {
namespace {

constexpr double slice = 1998.848; // µs, of each TSG in three-tasks

class Tasks : public OnBoard {
  protected:
    using Key = std::pair<unsigned, int>; // runlist, TSG

    void TearDown() override { bench.machine.retire(); }
    void advance(double us) { bench.machine.model().advance(static_cast<nvmodel::Ns>(us * 1000)); }
    std::map<Key, double> progress() {
        std::map<Key, double> all;
        for (const auto &one : bench.machine.model().progress())
            all[{one.runlist, one.tsg ? static_cast<int>(*one.tsg) : -1}] += one.progress_us;
        return all;
    }
    /// Returns the engine time that each TSG gains during `us`, by runlist and TSG.
    std::map<Key, double> gained(double us) {
        const auto before = progress();
        advance(us);
        auto after = progress();
        for (auto &[key, value] : after)
            value -= before.at(key);
        return after;
    }
    /// Checks the shares of runlist 0's time over whole rounds, in which TSG t has slices[t].
    void expect_shares(const std::array<double, 3> &slices) {
        const double all = slices[0] + slices[1] + slices[2];
        advance(2 * slice);
        auto gain = gained(40 * all + 1);
        const double total = gain[{0, 0}] + gain[{0, 1}] + gain[{0, 2}];
        EXPECT_GT(total, 0);
        for (int tsg = 0; tsg < 3; tsg++)
            EXPECT_NEAR((gain[{0, tsg}] / total), slices.at(static_cast<std::size_t>(tsg)) / all,
                        0.02);
    }
    void expect_even() { expect_shares({slice, slice, slice}); }
    /// Checks that no other TSG of runlist 0 gets any time.
    void expect_only(int tsg) {
        for (const auto &[key, value] : gained(20 * slice))
            if (key.first == 0) {
                EXPECT_NEAR(value, key.second == tsg ? 20 * slice : 0, 0.4 * slice) << key.second;
                EXPECT_TRUE(key.second == tsg || value == 0) << key.second;
            }
    }
    /// Returns the TSGs of runlist 0 that are on its engine.
    std::set<int> on_engine() {
        std::set<int> all;
        const Json said = bench.ask("progress");
        for (const Json &one : said.at("channels"))
            if (one.at("runlist") == 0 &&
                one.at("state").get<std::string>().find("ENG") != std::string::npos)
                all.insert(one.at("tsg").get<int>());
        return all;
    }
    void ok(const std::string &file, const std::string &text) {
        EXPECT_EQ(bench.write(file, text).error, 0) << text;
    }
    Fields location() {
        Fields head = boxes(bench.text("runlist0_brief")).at(0).fields;
        return {{"Address", head["Address"]},
                {"Aperture", head["Aperture"]},
                {"Entries", head["Entries"]}};
    }
    /// Returns the texts of the runlists that have TSGs.
    std::map<unsigned, std::string> lists() {
        std::map<unsigned, std::string> all;
        for (const nvmodel::RunlistRow &row : bench.machine.model().board().runlists) {
            const std::string file = "runlist" + std::to_string(row.id) + "_brief";
            if (bench.has(file) && !of_kind(boxes(bench.text(file)), "TSG Entry").empty())
                all[row.id] = bench.text(file);
        }
        return all;
    }
    static std::vector<std::optional<unsigned>> tsgs(const std::string &text) {
        std::vector<std::optional<unsigned>> all;
        for (const Box &box : of_kind(boxes(text), "TSG Entry"))
            all.push_back(box.number);
        return all;
    }
    std::map<unsigned, std::pair<std::string, std::string>> faults() {
        std::map<unsigned, std::pair<std::string, std::string>> all;
        for (const auto &[runlist, text] : lists())
            for (Box &box : of_kind(boxes(text), "Channel Info"))
                if (box.fields["PBDMA Faulted"] == "1" || box.fields["ENG Faulted"] == "1")
                    all[*box.number] = {box.fields["PBDMA Faulted"], box.fields["ENG Faulted"]};
        return all;
    }
};

// --- channels ---

TEST_P(Tasks, DisabledOnesStopAndTheOthersGain) {
    const double window = 60 * slice;
    const auto expect = [&](const std::array<double, 3> &wanted) {
        advance(3 * slice); // the task on the engine finishes its timeslice
        auto gain = gained(window);
        for (int tsg = 0; tsg < 3; tsg++)
            EXPECT_NEAR((gain[{0, tsg}]), wanted.at(static_cast<std::size_t>(tsg)) * window,
                        0.05 * window / 3);
    };
    expect({1. / 3, 1. / 3, 1. / 3});
    ok("disable_channel", "0:2 0:3\n");
    expect({1. / 2, 0, 1. / 2});
    ok("enable_channel", "0:2\n0:3\n");
    expect({1. / 3, 1. / 3, 1. / 3});
}

/// With all channels disabled the list goes idle. Host looks at it again only after a doorbell.
TEST_P(Tasks, WakeUpAfterTheRunlistFellAsleep) {
    const std::string everyone = "0:0 0:1 0:2 0:3 0:4 0:5";
    ok("disable_channel", everyone);
    advance(3 * slice);
    for (const auto &[key, value] : gained(10 * slice))
        EXPECT_EQ(value, 0);
    ok("enable_channel", everyone);
    for (const auto &[key, value] : gained(10 * slice))
        EXPECT_GT(value, 0);
}

TEST_P(Tasks, KeepTheirFaults) {
    if (!bench.since("titan-v"))
        return; // no register shows faults
    bench.machine.restart("mixed");
    const auto faulted = faults();
    EXPECT_FALSE(faulted.empty());
    for (const auto &[runlist, text] : lists())
        for (const Box &box : of_kind(boxes(text), "Channel Info"))
            if (faulted.contains(*box.number))
                for (const char *const control : {"disable_channel", "enable_channel"})
                    ok(control, std::to_string(runlist) + ":" + std::to_string(*box.number));
    EXPECT_EQ(faults(), faulted);
}

// --- set_timeslice ---

TEST_P(Tasks, GetMoreWithALongerTimeslice) {
    for (const auto &[factor, asked] : {std::pair(2, "3997.696"), std::pair(8, "15990.784")}) {
        Fields said = pairs(bench.write("set_timeslice", std::string("0x1 ") + asked).text);
        EXPECT_EQ(said["old_us"], "1998.848");
        EXPECT_EQ(said["new_us"], asked);
        expect_shares({slice, factor * slice, slice});
        ok("set_timeslice", "0:1 1998.848");
        expect_even();
    }
}

TEST_P(Tasks, GetMoreWithAListInSystemMemory) {
    bench.machine.restart("sysmem");
    EXPECT_EQ(location()["Aperture"], "coh");
    ok("set_timeslice", "0:2 3997.696");
    expect_shares({slice, slice, 2 * slice});
}

TEST_P(Tasks, KeepTheTimeslicesOfADriverThatSubmits) {
    ok("set_timeslice", "0:1 9000");
    static_cast<void>(bench.ask("submit 0"));
    advance(100);
    EXPECT_EQ(
        of_kind(boxes(bench.text("runlist0_brief")), "TSG Entry").at(1).fields["Timeslice (us)"],
        "1998.848");
    expect_even();
}

TEST_P(Tasks, KeepTheirTimeslicesIfTheListKeepsMoving) {
    bench.machine.fault("move-runlist 0 1");
    EXPECT_EQ(bench.write("set_timeslice", "0:1 9000").error, -EBUSY);
    bench.machine.fault("none");
    expect_even();
}

// --- switch_to_tsg ---

TEST_P(Tasks, StarveUntilTheListComesBack) {
    const Fields where = location();
    ok("switch_to_tsg", "0:1\n");
    EXPECT_EQ(location()["Aperture"], "coh");
    EXPECT_EQ(location()["Entries"], "3");
    expect_only(1);
    // A second switch replaces the TSG.
    ok("switch_to_tsg", "0:2");
    expect_only(2);
    ok("resubmit_runlist", "0");
    EXPECT_EQ(location(), where);
    expect_even();
}

/// Resubmitting one runlist leaves the others alone: Host goes on reading the module's lists there.
TEST_P(Tasks, ComeBackOneRunlistAfterTheOther) {
    bench.machine.restart("mixed");
    const auto before = lists();
    EXPECT_GT(before.size(), 1U);
    for (const auto &[runlist, text] : before)
        ok("switch_to_tsg", std::to_string(runlist) + ":" + std::to_string(*tsgs(text).at(0)));
    for (const auto &[runlist, text] : before) {
        ok("resubmit_runlist", std::to_string(runlist));
        const std::string now = bench.text("runlist" + std::to_string(runlist) + "_brief");
        EXPECT_EQ(tsgs(now), tsgs(text));
        EXPECT_EQ(boxes(now).at(0).fields["Address"], boxes(text).at(0).fields["Address"]);
    }
}

TEST_P(Tasks, FollowADriverThatSubmits) {
    ok("switch_to_tsg", "0:1");
    static_cast<void>(bench.ask("submit 0"));
    advance(100);
    const Fields where = location();
    expect_even();
    bench.machine.retire();
    EXPECT_EQ(location(), where);
    expect_even();
}

/// Other tasks of the runlist are taken off all of its engines. Tasks of other runlists run on.
TEST_P(Tasks, LeaveAllEnginesOfTheRunlist) {
    bench.machine.restart("mixed");
    ok("switch_to_tsg", "0:11");
    bool others = false;
    for (const auto &[key, value] : gained(20 * slice)) {
        if (key.first != 0)
            others |= value > 0;
        else if (key.second == 11)
            EXPECT_GT(value, 0);
        else
            EXPECT_EQ(value, 0) << key.second;
    }
    EXPECT_TRUE(others);
}

// --- preempt_tsg, preempt_runlist ---

TEST_P(Tasks, AreAtTheEndOfTheirTimesliceOnceTheyArePreempted) {
    for (const auto &[name, text] :
         {std::pair("preempt_tsg", "0:1"), std::pair("preempt_runlist", "0")}) {
        ok("resubmit_runlist", "0");
        advance(slice + 500);
        EXPECT_EQ(on_engine(), std::set<int>{1}) << name;
        ok(name, text);
        advance(100);
        // A list that is submitted again begins with its first TSG.
        const bool again = name == std::string("preempt_runlist") && !bench.since("titan-v");
        EXPECT_EQ(on_engine(), std::set<int>{again ? 0 : 2}) << name;
        expect_even();
    }
}

TEST_P(Tasks, CanBePreemptedWhileTheyDoNotRun) {
    advance(500);
    const int running = *on_engine().begin();
    const std::string other = std::to_string((running + 1) % 3);
    ok("preempt_tsg", other + " 0:" + other);
    expect_even();
}

TEST_P(Tasks, ArePreemptedWithTheGateAsItWas) {
    const std::string open = bench.text("scheduling");
    ok("preempt_tsg", "0:0 0:1 0:2");
    EXPECT_EQ(bench.text("scheduling"), open);
    ok("scheduling", "0 off");
    const std::string closed = bench.text("scheduling");
    EXPECT_NE(closed, open);
    ok("preempt_tsg", "0:0 0:1 0:2");
    EXPECT_EQ(bench.text("scheduling"), closed);
    EXPECT_EQ(on_engine(), std::set<int>{});
    ok("scheduling", "0 on");
    expect_even();
}

// --- scheduling, resubmit_runlist ---

TEST_P(Tasks, GoOnBehindAClosedGateIfTheyRun) {
    advance(500);
    const int running = *on_engine().begin();
    ok("scheduling", "0 off");
    expect_only(running);
    ok("preempt_runlist", "0");
    advance(100);
    if (bench.since("titan-v")) {
        for (const auto &[key, value] : gained(10 * slice))
            EXPECT_EQ(value, 0);
    }
    ok("scheduling", "0 on");
    expect_even();
}

/// Most of the lists are empty.
TEST_P(Tasks, KeepTheirListsWhenAllAreResubmitted) {
    std::string all;
    std::map<std::string, std::string> before;
    for (const nvmodel::RunlistRow &row : bench.machine.model().board().runlists) {
        const std::string file = "runlist" + std::to_string(row.id) + "_brief";
        if (!bench.has(file))
            continue;
        all += std::to_string(row.id) + " ";
        Fields head = boxes(bench.text(file)).at(0).fields;
        before[file] = head["Address"] + " " + head["Entries"];
    }
    ok("resubmit_runlist", all);
    for (const auto &[file, was] : before) {
        Fields head = boxes(bench.text(file)).at(0).fields;
        EXPECT_EQ(head["Address"] + " " + head["Entries"], was) << file;
    }
    expect_even();
}

// --- leases ---

/// The change of each lease lasts until the lease ends. Then each task has its former time.
TEST_P(Tasks, HaveTheirTimeAgainAfterALease) {
    const Fields where = location();
    const auto with = [&](const std::string &name, const std::string &text, const auto &meanwhile) {
        {
            const std::vector<File> all = files(bench.machine);
            Open open(bench.machine, *std::ranges::find(all, name, &File::name));
            EXPECT_EQ(open.write("lease " + text).error, 0) << name;
            advance(3 * slice);
            meanwhile();
        }
        advance(3 * slice);
        EXPECT_EQ(location(), where) << name;
        expect_even();
    };
    with("disable_channel", "0:2 0:3", [&] { EXPECT_EQ((gained(60 * slice)[{0, 1}]), 0); });
    with("disable_channel", "0:0 0:1 0:2 0:3 0:4 0:5", [&] {
        for (const auto &[key, value] : gained(10 * slice))
            EXPECT_EQ(value, 0);
    });
    with("set_timeslice", "0:1 4000", [&] { expect_shares({slice, 2 * slice, slice}); });
    with("switch_to_tsg", "0:1", [&] { expect_only(1); });
    with("scheduling", "0 off",
         [&] { EXPECT_NE(bench.text("scheduling").find("0 off"), std::string::npos); });
    ok("disable_channel", "0:2 0:3");
    {
        const std::vector<File> all = files(bench.machine);
        Open open(bench.machine, *std::ranges::find(all, "enable_channel", &File::name));
        EXPECT_EQ(open.write("lease 0:2 0:3").error, 0);
        EXPECT_GT((gained(10 * slice)[{0, 1}]), 0);
    }
    advance(3 * slice);
    EXPECT_EQ((gained(10 * slice)[{0, 1}]), 0);
}

/// A driver submits a list during a lease. The end of the lease leaves that list alone.
TEST_P(Tasks, FollowADriverThatSubmitsDuringALease) {
    const std::vector<File> all = files(bench.machine);
    for (const auto &[name, text] :
         {std::pair("set_timeslice", "lease 0:1 4000"), std::pair("switch_to_tsg", "lease 0:1")}) {
        Fields where;
        nvmodel::Statistics &statistics = bench.machine.model().statistics();
        {
            Open open(bench.machine, *std::ranges::find(all, name, &File::name));
            EXPECT_EQ(open.write(text).error, 0) << name;
            static_cast<void>(bench.ask("submit 0"));
            advance(100);
            where = location();
            statistics.reset();
        }
        for (const auto &[block, counts] : statistics.blocks().at(nvmodel::Bar::registers))
            EXPECT_EQ(counts.writes, 0U) << name << ": " << block;
        EXPECT_EQ(location(), where) << name;
        expect_even();
    }
}

/// The lease changes a header in system memory, and then two headers of one TSG.
TEST_P(Tasks, GetAllTimeslicesBackAfterALease) {
    for (const auto &[workload, tsg] : {std::pair("sysmem", 1U), std::pair("mixed", 10U)}) {
        bench.machine.restart(workload);
        const auto slices = [&] {
            std::vector<std::string> all;
            for (Box &box : of_kind(boxes(bench.text("runlist0_brief")), "TSG Entry"))
                if (box.number == tsg)
                    all.push_back(box.fields["Timeslice (us)"]);
            return all;
        };
        const std::size_t headers = tsg == 10 ? 2 : 1;
        EXPECT_EQ(slices(), std::vector<std::string>(headers, "1998.848"));
        {
            const std::vector<File> all = files(bench.machine);
            Open open(bench.machine, *std::ranges::find(all, "set_timeslice", &File::name));
            EXPECT_EQ(open.write("lease 0:" + std::to_string(tsg) + " 5000").error, 0);
            EXPECT_EQ(slices(), std::vector<std::string>(headers, "4980.736"));
        }
        EXPECT_EQ(slices(), std::vector<std::string>(headers, "1998.848"));
    }
}

// --- ids ---

/// If ids are per runlist, channel 2 of runlist 1 exists, listed or not, and is another channel
/// than runlist 0's.
TEST_P(Tasks, AreThoseOfTheirRunlist) {
    if (!bench.ids_per_runlist())
        return;
    const auto enabled = [&](unsigned runlist) {
        for (Box &box : of_kind(boxes(bench.text("runlist" + std::to_string(runlist) + "_brief")),
                                "Channel Info"))
            if (box.number == 2U)
                return box.fields["Enabled"];
        return std::string();
    };
    ok("disable_channel", "1:2");
    EXPECT_EQ(enabled(0), "1");
    bench.machine.restart("same-ids");
    std::vector<unsigned> both;
    for (const auto &[runlist, text] : lists())
        both.push_back(runlist);
    ASSERT_EQ(both.size(), 2U);
    EXPECT_EQ(bench.write("disable_channel", "2").error, -EINVAL);
    for (const char *const name : {"preempt_tsg", "switch_to_tsg"})
        EXPECT_EQ(bench.write(name, "1").error, -EINVAL) << name;
    EXPECT_EQ(bench.write("set_timeslice", "1 1500").error, -EINVAL);
    EXPECT_EQ(enabled(both[0]) + enabled(both[1]), "11");
    ok("disable_channel", std::to_string(both[1]) + ":2");
    EXPECT_EQ(enabled(both[0]) + enabled(both[1]), "10");
    for (const char *const name : {"preempt_tsg", "switch_to_tsg"})
        ok(name, std::to_string(both[1]) + ":1");
}

INSTANTIATE_TEST_SUITE_P(All, Tasks, testing::ValuesIn(cards), name_of_board);

} // namespace
} // namespace core
