// SPDX-License-Identifier: MIT OR GPL-2.0
// Files of task sets. An error is reported in one sentence with its place.
#include "sets.hpp"

namespace stgm {
namespace {

const char *const good =
    R"({"schema": "nvstgm/taskset", "schema_version": "1.0", "time_unit": "us", "cores": 2, "sms": 3,
 "tasks": [{"name": "a", "period": 100, "deadline": 90, "priority": 3,
   "segments": [{"cpu": 4}, {"gpu": {"to_device": 1, "kernel": [9, 5], "from_device": 2}}], "core": 1, "sms": [2, 0]}]})";

std::string with(const std::string &what, const std::string &instead) {
    std::string text = good;
    const std::size_t at = text.find(what);
    EXPECT_NE(at, text.npos) << what;
    return text.replace(at, what.size(), instead);
}

TEST(TaskSet, RoundTripKeepsTheSet) {
    const auto set = parse(good);
    ASSERT_TRUE(set) << set.error();
    const Task &one = set->tasks[0];
    EXPECT_EQ(one.deadline, 90);
    EXPECT_EQ(one.sms, (std::vector<std::uint32_t>{0, 2}));
    EXPECT_EQ(one.segments[1].kernel_on(1), 9);
    EXPECT_EQ(one.segments[1].kernel_on(2), 5);
    EXPECT_EQ(one.segments[1].kernel_on(3), 5) << "a short list goes on with its last value";
    const std::string text = to_json(*set).dump();
    const auto again = parse(text);
    ASSERT_TRUE(again) << again.error();
    EXPECT_EQ(to_json(*again).dump(), text);
}

std::string of_version_1_1(const std::string &what, const std::string &instead) {
    std::string text = with(what, instead);
    return text.replace(text.find("1.0"), 3, "1.1");
}

TEST(TaskSet, TimesWithUnitsAreThoseInMicroseconds) {
    const std::string numbers =
        R"("period": 12500, "deadline": 12000, "segments": [{"cpu": 350},
            {"gpu": {"to_device": 1000, "kernel": [2000000, 5], "from_device": 60000000}}])";
    const std::string texts =
        R"("period": "12.5ms", "deadline": "12 ms", "segments": [{"cpu": "350us"},
            {"gpu": {"to_device": "1000000ns", "kernel": ["2s", 5], "from_device": "1m"}}])";
    const std::string all = good;
    const std::size_t begin = all.find("\"period\""), end = all.find(", \"core\"");
    const std::string old = all.substr(begin, end - begin);
    const auto one = parse(of_version_1_1(old, numbers)), other = parse(of_version_1_1(old, texts));
    ASSERT_TRUE(one) << one.error();
    ASSERT_TRUE(other) << other.error();
    EXPECT_EQ(to_json(*one).dump(), to_json(*other).dump());
    EXPECT_EQ(other->tasks[0].segments[1].kernel, (std::vector<Time>{2'000'000, 5}));
}

TEST(TaskSet, RefusesTimesWithUnitsThatAreNoWholeMicroseconds) {
    const auto error = [](const std::string &time, const std::string &unit = "us") {
        std::string text = of_version_1_1("\"cpu\": 4", "\"cpu\": \"" + time + "\"");
        const auto set = parse(text.replace(text.find("\"us\""), 4, "\"" + unit + "\""));
        return set ? "no error" : set.error();
    };
    const std::string place = "tasks[0].segments[0].cpu: ";
    EXPECT_EQ(error("500ns"), place + "'500ns' is no whole number of microseconds");
    EXPECT_EQ(error("1.5us"), place + "'1.5us' is no whole number of microseconds");
    for (const char *text :
         {"", "12", "-1ms", "12 apples", "1e3us", "40000d", "99999999999999999s"})
        EXPECT_TRUE(error(text).starts_with(place + "'" + text + "' is no time: ")) << text;
    EXPECT_EQ(error("4us", "tick"), place + "'4us' has a unit, and 'time_unit' is tick");
    EXPECT_EQ(error("4us"), "no error");
    EXPECT_EQ(parse(of_version_1_1("\"period\": 100", "\"period\": \"0us\"")).error(),
              "tasks[0].period: '0us' is less than 1us");
}

TEST(TaskSet, SingleKernelTimeHoldsForAllSms) {
    const auto set = parse(with("[9, 5]", "7"));
    ASSERT_TRUE(set);
    EXPECT_EQ(set->tasks[0].segments[1].kernel_on(3), 7);
}

struct Bad {
    const char *what, *instead, *place, *sentence;
};

class BadInput : public testing::TestWithParam<Bad> {};

TEST_P(BadInput, GivesOneSentenceWithItsPlace) {
    const auto set = parse(with(GetParam().what, GetParam().instead));
    ASSERT_FALSE(set);
    EXPECT_TRUE(set.error().starts_with(std::string(GetParam().place) + ": ")) << set.error();
    EXPECT_NE(set.error().find(GetParam().sentence), std::string::npos) << set.error();
    EXPECT_EQ(set.error().find('\n'), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(
    TaskSet, BadInput,
    testing::Values(
        Bad{"[9, 5]", "[9, 5, 6]", "tasks[0].segments[1].gpu.kernel[2]", "increases from 5 to 6"},
        Bad{"[9, 5]", "[]", "tasks[0].segments[1].gpu.kernel", "is empty"},
        Bad{"[9, 5]", "[9, -5]", "tasks[0].segments[1].gpu.kernel[1]", "-5 is not from 0"},
        Bad{"[9, 5]", "[9.5]", "tasks[0].segments[1].gpu.kernel[0]", "no"},
        Bad{"\"kernel\": [9, 5], ", "", "tasks[0].segments[1].gpu", "'kernel' is missing"},
        Bad{"\"deadline\": 90", "\"deadline\": 101", "tasks[0].deadline", "after the period 100"},
        Bad{"\"deadline\": 90", "\"deadlin\": 90", "tasks[0]", "no field 'deadlin'"},
        Bad{"\"cpu\": 4", "\"cpu\": 4, \"gpu\": 5", "tasks[0].segments[0]", "either"},
        Bad{"{\"cpu\": 4}", "{}", "tasks[0].segments[0]", "either"},
        Bad{"{\"cpu\": 4}", "4", "tasks[0].segments[0]", "not an object"},
        Bad{"\"cpu\": 4", "\"cpu\": 99999999999999999999", "tasks[0].segments[0].cpu",
            "1e+20 is more than"},
        Bad{"\"cpu\": 4", "\"cpu\": 18446744073709551615", "tasks[0].segments[0].cpu",
            "not from 0"},
        Bad{"\"cpu\": 4", "\"cpu\": 1000000000000001", "tasks[0].segments[0].cpu", "not from 0"},
        Bad{"\"period\": 100", "\"period\": 0", "tasks[0].period", "not from 1"},
        Bad{"\"period\": 100", "\"period\": \"100\"", "tasks[0].period", "'100' is no time"},
        Bad{"\"period\": 100", "\"period\": \"1ms\"", "tasks[0].period",
            "needs \"schema_version\": \"1.1\""},
        Bad{"\"period\": 100, ", "", "tasks[0]", "'period' is missing"},
        Bad{"\"sms\": [2, 0]", "\"sms\": [3]", "tasks[0].sms[0]", "3 is not from 0 to 2"},
        Bad{"\"sms\": [2, 0]", "\"sms\": [1, 1]", "tasks[0].sms[1]", "SM 1 is there twice"},
        Bad{"\"sms\": [2, 0]", "\"sms\": []", "tasks[0].sms", "one SM at least"},
        Bad{"\"sms\": 3", "\"sms\": 0", "tasks[0].segments", "GPU segment"},
        Bad{"\"core\": 1", "\"core\": 2", "tasks[0].core", "2 is not from 0 to 1"},
        Bad{"\"cores\": 2", "\"cores\": 0", "cores", "0 is not from 1"},
        Bad{"\"name\": \"a\"", "\"name\": \"\"", "tasks[0].name", "1 to 200"},
        Bad{"\"name\": \"a\"", "\"name\": \"a\", \"name\": \"b\"", "'tasks'[0].'name'", "twice"},
        Bad{"\"cores\": 2", "\"cores\": 2, \"cores\": 2", "'cores'", "twice"},
        Bad{"\"time_unit\": \"us\"", "\"time_unit\": \"ms\"", "time_unit", "neither"},
        Bad{"nvstgm/taskset", "nvstgm/check", "schema", "'nvstgm/check' is not"},
        Bad{"\"1.0\"", "\"2.0\"", "schema_version", "'2.0' is neither"},
        Bad{"\"a\"", "}", "line 2, column 21", "no JSON"},
        Bad{"\"segments\": [", "\"segments\": [], \"x\": [", "tasks[0]", "no field 'x'"}));

TEST(TaskSet, RefusesTasksThatDoNotFitTogether) {
    const std::string second = R"(}, {"name": "b", "period": 5, "segments": [{"cpu": 1}]}]})";
    std::string text = good;
    text.replace(text.rfind("}]}"), 3, second);
    EXPECT_NE(parse(text).error().find("either all tasks have a 'priority' or none"),
              std::string::npos);
    text.replace(text.find("\"name\": \"b\""), 11, "\"priority\": 1, \"name\": \"a\"");
    EXPECT_NE(parse(text).error().find("another task is called 'a'"), std::string::npos);
}

TEST(TaskSet, RefusesMalformedAndDeepJson) {
    for (const std::string &text :
         {std::string(), std::string("[[["), std::string("nul"), std::string("\xff\xfe"),
          std::string("{\"a\":1"), std::string(10 << 20, '['), std::string(100, '['),
          std::string("\"\\"), std::string("1e999")}) {
        const auto set = parse(text);
        ASSERT_FALSE(set);
        EXPECT_LT(set.error().size(), 200U);
        EXPECT_EQ(set.error().find('\n'), std::string::npos) << set.error();
    }
    EXPECT_TRUE(parse(std::string(10 << 20, '[')).error().starts_with("line 1, column 17: "));
}

TEST(TaskSet, ManyKeysOfOneObjectTakeLittleTime) {
    std::string text = "{";
    for (int n = 0; n < 300'000; n++)
        text += (n ? ",\"" : "\"") + std::to_string(n) + "\":0";
    EXPECT_NE(parse(text + "}").error().find("no field"), std::string::npos);
}

TEST(TaskSet, EqualTasksKeepTheOrderOfTheFile) {
    TaskSet set{"tick",
                1,
                1,
                {task("a", 9, {cpu(1)}, 0), task("b", 9, {cpu(1)}, 0), task("c", 5, {cpu(1)}, 0)}};
    EXPECT_EQ(ranks(set), (std::vector<std::size_t>{1, 2, 0}));
    for (Task &one : set.tasks)
        one.priority = one.name == "b" ? 2 : 1;
    EXPECT_EQ(ranks(set), (std::vector<std::size_t>{1, 0, 2}));
}

} // namespace
} // namespace stgm
