// SPDX-License-Identifier: MIT OR GPL-2.0
// Goals on the command line and in a file.
#include "tools/nvqos/command_line.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <sys/stat.h>

#include "lib/cli/completion.hpp"

namespace {

using namespace nvqos;

/// Reads a whole command line, as main() does.
Outcome<Invocation> parse(const std::vector<std::string> &words) {
    const auto parsed = nvdebug::cli::parse(program(), words);
    return parsed.wrong ? fail(bad_usage, *parsed.wrong) : read(parsed.arguments);
}

/// Returns the words that completion offers for the last word.
std::vector<std::string> completions(const std::vector<std::string> &words) {
    std::vector<std::string> found;
    for (const std::string &line : nvdebug::cli::completions(program(), words))
        found.push_back(line.substr(0, line.find('\t')));
    return found;
}

Goals typed(const std::vector<std::string> &words) {
    Goals asked;
    for (const std::string &word : words) {
        const auto added = add_word(word, asked);
        EXPECT_TRUE(added) << added.error().sentence;
    }
    return asked;
}

TEST(Words, NameTenantsAndGoals) {
    const Goals asked =
        typed({"4711=share:30%,cap:40.5%", "command:a=b=latency", "job:17=speed:12.5%",
               "container:3f=best-effort:3", "all-of:9=cap:20%", "cgroup:/x/y=best-effort",
               "9=latency:2.5ms,cap:60%", "others=cap:50%"});
    ASSERT_EQ(asked.tenants.size(), 7U);
    EXPECT_EQ(asked.tenants[0].who.pid, 4711U);
    EXPECT_EQ(asked.tenants[0].goal.part, 30 * qos::point);
    EXPECT_EQ(asked.tenants[0].goal.cap, 405'000);
    EXPECT_EQ(asked.tenants[1].who.command, "a=b");
    EXPECT_EQ(asked.tenants[1].goal.aim, qos::Aim::latency);
    EXPECT_EQ(asked.tenants[2].who.job, "17");
    EXPECT_EQ(asked.tenants[2].goal.part, 125'000);
    EXPECT_EQ(asked.tenants[3].goal.weight, 3);
    EXPECT_EQ(asked.tenants[4].who.all_of, 9U);
    EXPECT_EQ(asked.others.cap, 50 * qos::point);
    EXPECT_EQ(asked.tenants[6].goal.p99, 2'500 * qos::us);
    EXPECT_EQ(text_of(asked.tenants[0].goal), "share 30 %, cap 40.5 %");
    EXPECT_EQ(text_of(asked.tenants[1].goal), "latency");
    EXPECT_EQ(text_of(asked.tenants[6].goal), "latency 2.5 ms, cap 60 %");
}

TEST(Words, NameGoalsOfEngines) {
    const Goals asked = typed({"1=ttft:200ms", "2=tpot:10ms@95,ttft:2s,cap:60%"});
    const qos::Goal &one = asked.tenants[0].goal, &two = asked.tenants[1].goal;
    EXPECT_EQ(one.aim, qos::Aim::latency);
    EXPECT_EQ(one.ttft, (qos::Tail{200 * qos::ms, 99}));
    EXPECT_EQ(one.tpot, qos::Tail());
    EXPECT_EQ(two.ttft, (qos::Tail{2 * qos::second, 99}));
    EXPECT_EQ(two.tpot, (qos::Tail{10 * qos::ms, 95}));
    EXPECT_EQ(text_of(one), "ttft 200 ms");
    EXPECT_EQ(text_of(two), "ttft 2000 ms, tpot 10 ms (95 %), cap 60 %");
}

TEST(Words, AreRefusedWithASentence) {
    for (const char *const word : {"",
                                   "4711",
                                   "=share:30%",
                                   "0777=share:30%",
                                   "-1=cap:3%",
                                   "x=share:30%",
                                   "what:x=cap:30%",
                                   "command:=cap:30%",
                                   "4711=",
                                   "4711=share",
                                   "4711=share:30",
                                   "4711=share:0%",
                                   "4711=share:101%",
                                   "4711=share:1e1%",
                                   "4711=share:0.00001%",
                                   "4711=share:30%,share:20%",
                                   "4711=share:30%,latency",
                                   "4711=cap:30%,cap:40%",
                                   "4711=fast",
                                   "4711=best-effort:0",
                                   "4711=best-effort:",
                                   "4711=latency:",
                                   "4711=latency:5",
                                   "4711=latency:0ms",
                                   "4711=ttft",
                                   "4711=ttft:",
                                   "4711=ttft:0ms",
                                   "4711=ttft:200",
                                   "4711=ttft:200ms@",
                                   "4711=ttft:200ms@0",
                                   "4711=ttft:200ms@101",
                                   "4711=ttft:200ms@99.9",
                                   "4711=ttft:200ms,ttft:100ms",
                                   "4711=tpot:10ms,latency",
                                   "4711=latency,tpot:10ms",
                                   "4711=latency:5ms,ttft:10ms",
                                   "4711=share:30%,ttft:10ms",
                                   "4711=ttft:10ms,share:30%",
                                   "4711=share:30%,",
                                   "4711=share:-3%",
                                   "4711=gang=",
                                   "4711=share:30%,gang=OFF",
                                   "4711=gang=off,gang=on",
                                   "4711=timeslice:5ms,gang=nodes",
                                   "4711=latency,cap:30%,gang=nodes",
                                   "others=gang=nodes",
                                   "4711=gang=off,",
                                   "4711=gang=off,,share:30%",
                                   "gang=off,4711=,gang=off",
                                   "others=gang=off"}) {
        Goals asked;
        const auto added = add_word(word, asked);
        ASSERT_FALSE(added) << word;
        EXPECT_EQ(added.error().exit, bad_usage) << word;
        EXPECT_FALSE(added.error().sentence.empty());
    }
    Goals asked = typed({"4711=cap:30%"});
    EXPECT_FALSE(add_word("4711=share:10%", asked)) << "twice";
}

TEST(Goals, SayWhetherATenantIsAGang) {
    const Goals asked =
        typed({"1=share:30%", "2=gang=off", "3=share:30%,gang=off,cap:40%", "4=gang=off,latency",
               "5=latency,gang=on", "cgroup:/a=b,gang=off,c=share:30%",
               "cgroup:/a=b=share:30%,gang=off", "cgroup:/gang=off=cap:30%",
               "cgroup:/a=gang=latency", "6=share:30%,gang=nodes", "command:x=gang=nodes"});
    constexpr Gang on = Gang::on, off = Gang::off, nodes = Gang::nodes;
    const std::vector<Gang> expected = {on, off, off, off, on, on, off, on, on, nodes, nodes};
    ASSERT_EQ(asked.tenants.size(), expected.size());
    for (std::size_t n = 0; n < expected.size(); n++)
        EXPECT_EQ(asked.tenants[n].gang, expected[n]) << n;
    EXPECT_EQ(text_of(asked.tenants[1].goal), "best effort");
    EXPECT_EQ(text_of(asked.tenants[2].goal), "share 30 %, cap 40 %");
    EXPECT_EQ(text_of(asked.tenants[3].goal), "latency");
    EXPECT_EQ(asked.tenants[5].who.cgroup, "/a=b,gang=off,c");
    EXPECT_EQ(asked.tenants[6].who.cgroup, "/a=b");
    EXPECT_EQ(asked.tenants[7].who.cgroup, "/gang=off");
    EXPECT_EQ(asked.tenants[8].who.cgroup, "/a=gang");
}

TEST(Times, AreExact) {
    EXPECT_EQ(parse_time("100ms"), 100 * qos::ms);
    EXPECT_EQ(parse_time("1.5s"), 1500 * qos::ms);
    EXPECT_EQ(parse_time("30us"), 30 * qos::us);
    for (const char *const word : {"", "ms", "100", "-1ms", "1e3ms", "1.s", "99999999s", "5d"})
        EXPECT_FALSE(parse_time(word)) << word;
}

TEST(Selectors, FitWhatTaskSetFits) {
    nvdebug::Process process{11, "train",
                             "/system.slice/slurmstepd.scope/job_17/step_0/user/task_0", 0};
    Trees trees;
    const auto fits_it = [&](const Selector &who) { return fits({"", who, {}}, process, trees); };
    const auto fit = [&](const char *word) { return fits_it(parse_tenant(word)->who); };
    EXPECT_TRUE(fit("11"));
    EXPECT_FALSE(fit("12"));
    EXPECT_TRUE(fit("command:train"));
    EXPECT_FALSE(fit("command:trai"));
    EXPECT_TRUE(fit("job:17"));
    EXPECT_FALSE(fit("job:1"));
    EXPECT_TRUE(fit("job:17.0"));
    EXPECT_FALSE(fit("job:17.1"));
    EXPECT_TRUE(fit("cgroup:/system.slice"));
    EXPECT_FALSE(fit("cgroup:/system.sl"));
    const std::string id(64, 'a');
    process.cgroup = "/system.slice/docker-" + id + ".scope";
    EXPECT_TRUE(fit("container:aaaa"));
    EXPECT_FALSE(fit("container:b"));
    process.cgroup = "/kubepods.slice/kubepods-pod8c1e5a52_0000_4000_8000_000000000001.slice/"
                     "cri-containerd-" +
                     id + ".scope";
    EXPECT_TRUE(fit("pod:8c1e5a52-0000"));
    EXPECT_FALSE(fit("pod:9"));
    EXPECT_TRUE(fit("container:aaaa"));
    process.started = 3;
    EXPECT_FALSE(fits_it({.all_of = 7})) << "nothing is read";
    trees[7] = std::make_shared<Family>();
    EXPECT_FALSE(fits_it({.all_of = 7}));
    trees[7]->add({11, 3});
    EXPECT_TRUE(fits_it({.all_of = 7}));
    EXPECT_TRUE(fits_it({.all_of = 7, .command = "train"}));
    EXPECT_FALSE(fits_it({.all_of = 7, .command = "other"}));
}

class File : public testing::Test {
  protected:
    Outcome<Goals> read(const std::string &text) {
        std::ofstream(path) << text;
        return read_goals(path);
    }
    void refused(const std::string &text, const std::string &sentence) {
        const auto asked = read(text);
        ASSERT_FALSE(asked) << text;
        EXPECT_NE(asked.error().sentence.find(sentence), std::string::npos)
            << asked.error().sentence;
        EXPECT_EQ(asked.error().exit, bad_usage);
    }
    ~File() override { std::remove(path.c_str()); }
    const std::string path = testing::TempDir() + "goals." + std::to_string(getpid()) + ".toml";
};

TEST_F(File, HasAllThatCanBeTyped) {
    const auto asked = read(R"(
epoch = "200ms"
scheme = "history"
gpus = [1, 0]
others = "best-effort:2"
tpcs = true
[[tenant]]
name = "service"
command = "serve"
goal = "latency"
[[tenant]]
container = "3f2a"
goal = ["share:30%", "cap:50%"]
[[tenant]]
job = "17"
cgroup = "/x"
goal = "cap:20%"
[[tenant]]
pid = 4711
goal = "speed:10%"
gang = false
[[tenant]]
pid = 4712
goal = "share:10%"
gang = "nodes"
)");
    ASSERT_TRUE(asked) << asked.error().sentence;
    EXPECT_EQ(asked->settings.epoch, 200 * qos::ms);
    EXPECT_EQ(asked->settings.scheme, qos::Scheme::history);
    EXPECT_EQ(asked->gpus, (std::vector<std::string>{"1", "0"}));
    EXPECT_EQ(asked->others.weight, 2);
    EXPECT_TRUE(asked->tpcs);
    ASSERT_EQ(asked->tenants.size(), 5U);
    EXPECT_EQ(asked->tenants[4].gang, Gang::nodes);
    EXPECT_EQ(asked->tenants[0].gang, Gang::on);
    EXPECT_EQ(asked->tenants[3].gang, Gang::off);
    EXPECT_EQ(asked->tenants[0].name, "service");
    EXPECT_EQ(asked->tenants[1].name, "container:3f2a");
    EXPECT_EQ(asked->tenants[1].goal.cap, 50 * qos::point);
    EXPECT_EQ(asked->tenants[2].who, (Selector{.cgroup = "/x", .job = "17"}));
    EXPECT_EQ(asked->tenants[3].who.pid, 4711U);
}

TEST_F(File, IsRefusedWithTheLine) {
    refused("epoch = 100\n", ":1: epoch is a time");
    refused("\nepoc = \"1s\"\n", ":2: 'epoc' is no key here");
    refused("scheme = \"best\"\n", "is no scheme");
    refused("scheme = 3\n", ":1: scheme is a text");
    refused("gpus = [0.5]\n", ":1: gpus are numbers or names");
    refused("gpus = [-1]\n", ":1: '-1' cannot be a GPU's name");
    refused("gpus = [0,\n\"x\"]\n", ":2: 'x' cannot be a GPU's name");
    refused("gpus = []\n", "an empty list");
    refused("gpus = \"MIG-57a2\"\n", "a part of a GPU (MIG)");
    refused("tpcs = \"all\"\n", ":1: tpcs is true or false");
    refused("[[tenant]]\npid = 1\ngoal = \"latency\"\ngang = \"off\"\n",
            ":4: gang is true, false if the tenant's tasks on several GPUs do not wait for each "
            "other, or \"nodes\"");
    refused("[[tenant]]\npid = 1\ngoal = \"timeslice:2ms\"\ngang = \"nodes\"\n",
            ":4: 'timeslice 2000 us' beside gang=nodes: windows by the clock set timeslices");
    refused("[tenant]\npid = 1\n", "write [[tenant]]");
    refused("[[tenant]]\ngoal = \"latency\"\n", "which tasks");
    refused("[[tenant]]\npid = 7\n", "has no goal");
    refused("[[tenant]]\npid = \"7\"\ngoal = \"latency\"\n", ":2: pid is the number");
    refused("[[tenant]]\npid = 7\ngoal = \"fast\"\n", ":3: 'fast' is no goal");
    refused("[[tenant]]\npid = 7\ngoal = []\n", "no goal in the list");
    refused("[[tenant]]\npid = 7\ngoal = 3\n", "a goal is a text");
    refused("[[tenant]]\npid = 7\ngoal = \"latency\"\n[[tenant]]\npid = 7\ngoal = \"cap:3%\"\n",
            "twice");
    refused("epoch = \n", ":1:");
    const auto absent = read_goals("/nonexistent/goals.toml");
    EXPECT_EQ(absent.error().exit, bad_usage);
    EXPECT_NE(absent.error().sentence.find("/nonexistent/goals.toml cannot be read: No such file"),
              std::string::npos);
}

TEST_F(File, IsRefusedWithTheLineWhereTomlAsserts) {
    refused("[$tenant]\n", ".toml:1: this line is no TOML");
    refused("epoch = \"1s\"\n[[$]]\n", ".toml:2: this line is no TOML");
    refused("[[tenant]]\npid = 7\ngoal = [\"latency\", }\n", ".toml:3: this line is no TOML");
    refused("epoch = 1979-05-27Te7:32:00Z\n", ".toml:1: this line is no TOML");
}

/// Container runtimes make a folder where the file of a mount is missing.
TEST_F(File, RefusesFoldersAndLargeFiles) {
    const auto is_no_file = [](const std::string &place, const std::string &what) {
        const auto asked = read_goals(place);
        ASSERT_FALSE(asked) << place;
        EXPECT_EQ(asked.error().exit, bad_usage);
        EXPECT_NE(asked.error().sentence.find(place + " is no file: it is " + what),
                  std::string::npos)
            << asked.error().sentence;
    };
    is_no_file("/tmp", "a folder");
    is_no_file("/dev/zero", "a device");
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
    is_no_file(path, "a pipe");
    std::remove(path.c_str());
    std::ofstream(path) << std::string((std::size_t{16} << 20) + 1, '\n');
    EXPECT_NE(read_goals(path).error().sentence.find("more than 16777216 bytes"),
              std::string::npos);
}

TEST_F(File, IsOverriddenByOptions) {
    ASSERT_TRUE(
        read("epoch = \"200ms\"\nscheme = \"naive\"\n[[tenant]]\npid = 7\ngoal = \"cap:3%\"\n"));
    const auto both = parse({"--file", path, "-e", "50ms", "8=cap:4%"});
    ASSERT_TRUE(both) << both.error().sentence;
    EXPECT_EQ(both->goals.settings.epoch, 50 * qos::ms);
    EXPECT_EQ(both->goals.settings.scheme, qos::Scheme::naive);
    ASSERT_EQ(both->goals.tenants.size(), 2U);
    EXPECT_EQ(both->goals.tenants[0].who.pid, 8U);
}

TEST(CommandLine, RefusesWhatMakesNoSense) {
    for (const std::vector<std::string> &words :
         std::vector<std::vector<std::string>>{{},
                                               {"--what"},
                                               {"--epoch"},
                                               {"--epoch", "soon", "7=latency"},
                                               {"--json=1", "7=latency"},
                                               {"--scheme", "best", "7=latency"},
                                               {"-j", "-q", "7=latency"},
                                               {"--gpu", "x", "7=latency"},
                                               {"--epoch", "100", "7=latency"},
                                               {"--interval", "1us", "7=latency"}}) {
        const auto parsed = parse(words);
        ASSERT_FALSE(parsed);
        EXPECT_EQ(parsed.error().exit, bad_usage);
    }
}

TEST(CommandLine, TimesOfPeopleAreSecondsWithoutAUnit) {
    const auto parsed = parse({"--for", "2", "-i", "3", "-e", "50 MS", "7=latency"});
    ASSERT_TRUE(parsed) << parsed.error().sentence;
    EXPECT_EQ(parsed->length, 2 * qos::second);
    EXPECT_EQ(parsed->interval, 3 * qos::second);
    EXPECT_EQ(parsed->goals.settings.epoch, 50 * qos::ms);
}

TEST(CommandLine, SentencesSayWhatToWrite) {
    const auto sentence = [](const std::vector<std::string> &words) {
        const auto parsed = parse(words);
        return parsed ? "" : parsed.error().sentence;
    };
    const auto has = [&](const std::vector<std::string> &words, const char *part) {
        return sentence(words).find(part) != std::string::npos;
    };
    EXPECT_TRUE(has({"7=latancy"}, "'latancy' (did you mean 'latency'?) is no goal"));
    EXPECT_TRUE(has({"7=share:0.3"}, "(did you mean 30%?)"));
    EXPECT_TRUE(has({"serve=latency"}, "write command:serve"));
    EXPECT_TRUE(has({"others=best-effort"}, "no goal is named"));
    EXPECT_EQ(sentence({"others=cap:20%"}), "");
    EXPECT_TRUE(has({"--scheme", "elestic", "7=latency"}, "(did you mean 'elastic'?)"));
}

TEST(CommandLine, IsCompleted) {
    EXPECT_EQ(completions({"--sch"}), std::vector<std::string>{"--scheme"});
    EXPECT_EQ(completions({"--scheme", "el"}), std::vector<std::string>{"elastic"});
    EXPECT_EQ(completions({"com"}), std::vector<std::string>{"command:"});
    EXPECT_EQ(completions({"7=la"}), std::vector<std::string>{"7=latency"});
    EXPECT_EQ(completions({"7=share:3%,c"}), std::vector<std::string>{"7=share:3%,cap:"});
}

} // namespace
