// SPDX-License-Identifier: MIT OR GPL-2.0
// Scenarios that make sense, and those that do not: each error names its field.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "lib/simulation/scenario_read.hpp"

namespace {

using Json = nlohmann::json;
using simulation::Item;

Json base() {
    return Json::parse(R"({
        "version": 1, "gpus": {"count": 4},
        "jobs": [
            {"name": "a", "gpus": [0], "program": [{"kernel_us": 9000.5, "launch_us": 3}, {"think_us": 900}]},
            {"name": "b", "gpus": [1, 2, 3], "goal": "share:30%",
             "program": [{"repeat": 2, "program": [{"kernel_us": 10}, {"collective_us": 50, "name": "g"}]},
                         {"join": true}],
             "rank_programs": {"2": [{"collective_us": 70, "name": "g", "overlap": true},
                                     {"collective_us": 50, "name": "g"}]}}],
        "events": [{"at_ms": 10, "kill": "b", "rank": 2}]})");
}

tl::expected<qos::Goal, std::string> read_goal(std::string_view text) {
    if (text == "share:30%")
        return qos::Goal{.aim = qos::Aim::share, .part = 30 * qos::point};
    if (text == "speed:30%")
        return qos::Goal{.aim = qos::Aim::speed, .part = 30 * qos::point};
    return tl::unexpected(std::string("'" + std::string(text) + "' is no goal"));
}

auto read(const Json &json) {
    return simulation::read_scenario(json.dump(), read_goal);
}

TEST(ScenarioFile, HasDefaults) {
    const auto found = read(base());
    ASSERT_TRUE(found) << found.error();
    EXPECT_EQ(found->seed, 1U);
    EXPECT_EQ(found->duration, 10 * qos::second);
    EXPECT_EQ(found->warmup, 3 * qos::second);
    EXPECT_TRUE(found->has_control);
    EXPECT_EQ(found->gpus.timeslice_us * found->gpus.timeslice_unit, 2'048'000);
    EXPECT_EQ(found->gpus.switching, 80 * qos::us);
    EXPECT_EQ(found->gpus.late, 123 * qos::us);
    EXPECT_EQ(found->gpus.resume, 62 * qos::us);
    EXPECT_EQ(found->gpus.request, 750 * qos::us);
    EXPECT_FALSE(found->gpus.slices_follow);
    EXPECT_EQ(found->jobs[0].cpu_jitter, 2 * qos::point);
    EXPECT_EQ(found->jobs[0].goal_text, "best-effort");
    EXPECT_TRUE(found->jobs[0].gang);
    EXPECT_EQ(found->jobs[1].goal.part, 30 * qos::point);
    EXPECT_EQ(found->kills[0].job, 1U);
}

TEST(ScenarioFile, JobMayHaveATimesliceOfItsOwn) {
    Json json = base();
    json["jobs"][1]["timeslice_us"] = 500;
    const auto found = read(json);
    ASSERT_TRUE(found) << found.error();
    EXPECT_FALSE(found->jobs[0].timeslice_us);
    EXPECT_EQ(found->jobs[1].timeslice_us, 500);
}

TEST(ScenarioFile, ProgramsAreFlat) {
    const auto found = read(base());
    ASSERT_TRUE(found) << found.error();
    EXPECT_EQ(found->jobs[0].program(0).front(),
              (Item{.kind = Item::Kind::kernel, .time = 9'000'500, .launch = 3000}));
    const Item kernel{.kind = Item::Kind::kernel, .time = 10'000},
        gather{.kind = Item::Kind::collective, .time = 50'000, .rounds = 4};
    EXPECT_EQ(found->jobs[1].program(1),
              (simulation::Program{kernel, gather, kernel, gather, {Item::Kind::join}}));
    EXPECT_TRUE(found->jobs[1].program(2).front().overlap);
}

struct Bad {
    const char *place; ///< a JSON pointer
    const char *value; ///< JSON; empty: the field is removed
    const char *says;
};

void PrintTo(const Bad &bad, std::ostream *out) {
    *out << bad.place << " = " << bad.value;
}

class BadScenario : public testing::TestWithParam<Bad> {};

TEST_P(BadScenario, NamesTheField) {
    Json json = base();
    const Json::json_pointer place(GetParam().place);
    if (*GetParam().value)
        json[place] = Json::parse(GetParam().value);
    else
        json[place.parent_pointer()].erase(place.back());
    const auto found = read(json);
    ASSERT_FALSE(found);
    EXPECT_NE(found.error().find(GetParam().says), std::string::npos) << found.error();
    EXPECT_EQ(found.error().find('\n'), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(
    Fields, BadScenario,
    testing::Values(
        Bad{"/version", "", "'version' is missing"}, Bad{"/version", "2", "version: "},
        Bad{"/version", "\"1\"", "version: "}, Bad{"/speed", "1", "no field 'speed'"},
        Bad{"/name", "7", "name: "}, Bad{"/seed", "-1", "seed: "},
        Bad{"/seed", "9007199254740993", "seed: "}, Bad{"/seed", "0.5", "seed: "},
        Bad{"/duration_ms", "600001", "duration_ms: "}, Bad{"/duration_ms", "0", "duration_ms: "},
        Bad{"/duration_ms", "2000", "warmup_ms: "}, Bad{"/warmup_ms", "10000", "warmup_ms: "},
        Bad{"/warmup_ms", "-1", "warmup_ms: "}, Bad{"/control", "\"all\"", "control: "},
        Bad{"/control", "true", "control: "}, Bad{"/gpus", "", "'gpus' is missing"},
        Bad{"/gpus", "4", "gpus: "}, Bad{"/gpus/count", "", "gpus: the field 'count' is missing"},
        Bad{"/gpus/count", "17", "gpus.count: "}, Bad{"/gpus/count", "0", "gpus.count: "},
        Bad{"/gpus/nodes", "0", "gpus.nodes: "}, Bad{"/gpus/nodes", "5", "gpus.nodes: "},
        Bad{"/gpus/nodes", "3", "gpus.nodes: 4 GPUs cannot be divided evenly among so many nodes"},
        Bad{"/gpus/skew_us", "-1", "gpus.skew_us: "},
        Bad{"/gpus/timeslice_us", "0", "gpus.timeslice_us: "},
        Bad{"/gpus/timeslice_unit_ns", "0", "gpus.timeslice_unit_ns: "},
        Bad{"/gpus/switch_us", "-1", "gpus.switch_us: "},
        Bad{"/gpus/late_us", "null", "gpus.late_us: "},
        Bad{"/gpus/resume_us", "[]", "gpus.resume_us: "},
        Bad{"/gpus/request_us", "1e300", "gpus.request_us: "},
        Bad{"/gpus/timeslices_follow", "1", "gpus.timeslices_follow: is neither true nor false"},
        Bad{"/gpus/kernel_jitter", "1.5", "gpus.kernel_jitter: "},
        Bad{"/gpus/models", "\"h100\"", "gpus: there is no field 'models'"},
        Bad{"/gpus/model", "\"H100\"",
            "gpus.model: no model is called 'H100'; those that are known: h100, h200"},
        Bad{"/gpus/model", "100", "gpus.model: "}, Bad{"/jobs", "[]", "jobs: "},
        Bad{"/jobs", "{}", "jobs: "}, Bad{"/jobs", "", "'jobs' is missing"},
        Bad{"/jobs/0", "3", "jobs[0]: "}, Bad{"/jobs/0/name", "", "jobs[0]: the field 'name'"},
        Bad{"/jobs/0/name", "\"\"", "jobs[0].name: "},
        Bad{"/jobs/1/name", "\"a\"", "jobs[1].name: "}, Bad{"/jobs/0/gpus", "[]", "jobs[0].gpus: "},
        Bad{"/jobs/0/gpus", "[4]", "jobs[0].gpus[0]: "},
        Bad{"/jobs/1/gpus", "[1, 2, 1]", "jobs[1].gpus[2]: "},
        Bad{"/jobs/0/gpus", "0", "jobs[0].gpus: "},
        Bad{"/jobs/0/timeslice_us", "0", "jobs[0].timeslice_us: "},
        Bad{"/jobs/0/timeslice_us", "1.5", "jobs[0].timeslice_us: "},
        Bad{"/jobs/0/program", "", "jobs[0]: the field 'program'"},
        Bad{"/jobs/0/program", "[]", "jobs[0].program: "},
        Bad{"/jobs/0/program", "[{\"kernel_us\": 0}]", "jobs[0].program: "}));

INSTANTIATE_TEST_SUITE_P(
    Programs, BadScenario,
    testing::Values(
        Bad{"/jobs/0/program/0", "{}", "jobs[0].program[0]: has not exactly one"},
        Bad{"/jobs/0/program/0", "7", "jobs[0].program[0]: "},
        Bad{"/jobs/0/program/0/think_us", "1", "jobs[0].program[0]: has not exactly one"},
        Bad{"/jobs/0/program/0", "{\"kernal_us\": 1}",
            "jobs[0].program[0]: there is no field 'kernal_us'"},
        Bad{"/jobs/0/program/0/kernel_us", "-1", "jobs[0].program[0].kernel_us: "},
        Bad{"/jobs/0/program/0/kernel_us", "\"9\"", "jobs[0].program[0].kernel_us: "},
        Bad{"/jobs/0/program/0/kernel_us", "true", "jobs[0].program[0].kernel_us: "},
        Bad{"/jobs/0/program/0/launch_us", "-3", "jobs[0].program[0].launch_us: "},
        Bad{"/jobs/0/program/1/launch_us", "3",
            "jobs[0].program[1]: there is no field 'launch_us'"},
        Bad{"/jobs/0/program/0/overlap", "true", "jobs[0].program[0]: there is no field 'overlap'"},
        Bad{"/jobs/0/program/0", "{\"collective_us\": 1, \"name\": \"g\"}",
            "jobs[0].program[0]: a job of one GPU"},
        Bad{"/jobs/1/program/1/join", "false", "jobs[1].program[1].join: "},
        Bad{"/jobs/1/program/1/join", "1", "jobs[1].program[1].join: "},
        Bad{"/jobs/1/program/0/repeat", "-1", "jobs[1].program[0].repeat: "},
        Bad{"/jobs/1/program/0/repeat", "1.5", "jobs[1].program[0].repeat: "},
        Bad{"/jobs/1/program/0/repeat", "900000", "jobs[1].program[0]: the program has more than"},
        Bad{"/jobs/1/program/0/program", "", "jobs[1].program[0]: the field 'program'"},
        Bad{"/jobs/1/program/0/program/1/name", "",
            "jobs[1].program[0].program[1]: the field 'name'"},
        Bad{"/jobs/1/program/0/program/1/rounds", "-1", "jobs[1].program[0].program[1].rounds: "},
        Bad{"/jobs/1/program/0/program/1/overlap", "1", "jobs[1].program[0].program[1].overlap: "},
        Bad{"/jobs/1/rank_programs/3", "[{\"join\": true}]",
            "jobs[1].rank_programs: '3' is no rank"},
        Bad{"/jobs/1/rank_programs/02", "[{\"join\": true}]",
            "jobs[1].rank_programs: '02' is no rank"},
        Bad{"/jobs/1/rank_programs", "[]", "jobs[1].rank_programs: "},
        Bad{"/jobs/1/rank_programs/2/1", "{\"think_us\": 5}",
            "jobs[1].rank_programs.2: has 1 collectives"},
        Bad{"/jobs/1/rank_programs/2/1/name", "\"h\"",
            "jobs[1].rank_programs.2: collective 1 is 'h'"},
        Bad{"/jobs/1/rank_programs/2/1/rounds", "7",
            "jobs[1].rank_programs.2: collective 1, 'g', has 7 rounds"},
        Bad{"/jobs/1/program/0/repeat", "3", "jobs[1].rank_programs.2: has 2 collectives"},
        Bad{"/jobs/0/goal", "\"fast\"", "jobs[0].goal: 'fast' is no goal"},
        Bad{"/jobs/0/goal", "30", "jobs[0].goal: "},
        Bad{"/jobs/0/goal", "\"speed:30%\"", "jobs[0].goal: speed"},
        Bad{"/jobs/0/gang", "0", "jobs[0].gang: "},
        Bad{"/jobs/0/arrivals", "{}", "jobs[0].arrivals: the field 'mean_ms'"},
        Bad{"/jobs/0/arrivals", "100", "jobs[0].arrivals: "},
        Bad{"/jobs/0/arrivals", "{\"mean_ms\": 0}", "jobs[0].arrivals.mean_ms: "},
        Bad{"/jobs/0/start_ms", "-1", "jobs[0].start_ms: "},
        Bad{"/jobs/0/cpu_jitter", "2", "jobs[0].cpu_jitter: "},
        Bad{"/events/0/kill", "\"c\"", "events[0].kill: "},
        Bad{"/events/0/rank", "3", "events[0].rank: "},
        Bad{"/events/0/at_ms", "", "events[0]: the field 'at_ms'"},
        Bad{"/events/0/stop", "1", "events[0]: there is no field"},
        Bad{"/events", "{}", "events: "}));

TEST(ScenarioFile, RequestsMayTakeNoTime) {
    Json json = base();
    json["jobs"][0]["program"] = Json::parse(R"([{"kernel_us": 0}])");
    json["jobs"][0]["arrivals"] = {{"mean_ms", 5}};
    EXPECT_TRUE(read(json));
}

TEST(ScenarioFile, TextThatIsNoJsonIsNamedByItsPlace) {
    const auto found = simulation::read_scenario("{\n \"version\": }", read_goal);
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().find("line 2"), 0U) << found.error();
    const auto twice = simulation::read_scenario(R"({"version": 1, "version": 1})", read_goal);
    ASSERT_FALSE(twice);
    EXPECT_NE(twice.error().find("is there twice"), std::string::npos);
}

} // namespace
