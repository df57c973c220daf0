// SPDX-License-Identifier: MIT OR GPL-2.0
// The parser of requests over the socket: it takes all requests in the form of docs/qos.md, and no
// other bytes.
#include "tools/nvqos/serve/request.hpp"

#include "lib/base/printable.hpp"

#include <gtest/gtest.h>

#include <random>

namespace {

using namespace nvqos;
using Verb = Request::Verb;

TEST(Requests, AreTaken) {
    const auto hold = parse_request("hold job:123.0.5 share:30%,cap:50% gpu=0 gpu=GPU-57a2 gpu=0,2 "
                                    "pid=17 pid=18 pid=17 holder=19 cgroup=/a/b=c");
    ASSERT_TRUE(hold) << hold.error().sentence;
    EXPECT_EQ(hold->verb, Verb::hold);
    EXPECT_EQ(hold->name, "job:123.0.5");
    EXPECT_EQ(hold->goal.part, 30 * qos::point);
    EXPECT_EQ(hold->goal.cap, 50 * qos::point);
    EXPECT_EQ(hold->gpus, (std::vector<std::string>{"0", "GPU-57a2", "2"}));
    EXPECT_EQ(hold->pids, (std::vector<std::uint32_t>{17, 18}));
    EXPECT_EQ(hold->holder, 19U);
    EXPECT_EQ(hold->cgroups, std::vector<std::string>{"/a/b=c"});
    EXPECT_EQ(hold->gang, std::nullopt);
    EXPECT_EQ(parse_request("hold a latency pid=1 gang=off")->gang, Gang::off);
    EXPECT_EQ(parse_request("hold a latency gang=on pid=1")->gang, Gang::on);
    EXPECT_EQ(parse_request("join a latency gang=nodes pid=1 holder=1")->gang, Gang::nodes);
    EXPECT_NE(parse_request("hold a timeslice:5ms gang=nodes pid=1")
                  .error()
                  .sentence.find("windows by the clock set timeslices"),
              std::string::npos);
    EXPECT_EQ(parse_request("release a/b")->verb, Verb::release);
    EXPECT_EQ(parse_request("report -")->name, "-");
    EXPECT_FALSE(parse_request("report -")->wants_words);
    EXPECT_TRUE(parse_request("report a words")->wants_words);
    EXPECT_EQ(parse_request("list")->verb, Verb::list);
    EXPECT_EQ(parse_request("gpus")->verb, Verb::gpus);
    EXPECT_EQ(parse_request("watch")->verb, Verb::watch);
    const auto join = parse_request("join claim:1 share:30% pid=17 holder=19");
    ASSERT_TRUE(join) << join.error().sentence;
    EXPECT_EQ(join->verb, Verb::join);
    EXPECT_EQ(join->goal_word, "share:30%");
    EXPECT_EQ(join->holder, 19U);
    EXPECT_EQ(parse_request("hold a timeslice:500us pid=1")->goal.slice, 500 * qos::us);
}

TEST(Requests, AreRefusedWithASentence) {
    const std::string longest(128, 'n');
    EXPECT_TRUE(parse_request("release " + longest));
    for (const std::string &line : {std::string(""),
                                    std::string(" "),
                                    std::string("list "),
                                    std::string(" list"),
                                    std::string("list all"),
                                    std::string("LIST"),
                                    std::string("gpus 0"),
                                    std::string("watch all"),
                                    std::string("join a share:30% pid=1"),
                                    std::string("join a holder=1"),
                                    std::string("join a share:30% holder=1"),
                                    std::string("release"),
                                    std::string("release a b"),
                                    std::string("release a words"),
                                    std::string("report a word"),
                                    std::string("report a words words"),
                                    std::string("release a  b"),
                                    "release " + longest + "n",
                                    std::string("release a,b"),
                                    std::string("release \xc3\xa4"),
                                    std::string("release a\r"),
                                    std::string("release a\0", 10),
                                    std::string("release a\xff"),
                                    std::string("hold a"),
                                    std::string("hold a share:30%"),
                                    std::string("hold a share:30% holder=1"),
                                    std::string("hold a share:30 pid=1"),
                                    std::string("hold a share:30%, pid=1"),
                                    std::string("hold a timeslice:1us pid=1"),
                                    std::string("hold a timeslice:2s pid=1"),
                                    std::string("hold a timeslice:500 pid=1"),
                                    std::string("hold a share:30% pid=1 gang="),
                                    std::string("hold a share:30% pid=1 gang=no"),
                                    std::string("hold a share:30% pid=1 gang=off gang=off"),
                                    std::string("hold a gang=off pid=1"),
                                    std::string("hold a share:30%,gang=off pid=1"),
                                    std::string("hold a timeslice:500us,latency pid=1"),
                                    std::string("hold a share:30% pid=0"),
                                    std::string("hold a share:30% pid=-1"),
                                    std::string("hold a share:30% pid=01"),
                                    std::string("hold a share:30% pid=1x"),
                                    std::string("hold a share:30% pid=2147483648"),
                                    std::string("hold a share:30% pid=99999999999999999999"),
                                    std::string("hold a share:30% pid="),
                                    std::string("hold a share:30% pid"),
                                    std::string("hold a share:30% pid=1 gpu="),
                                    std::string("hold a share:30% pid=1 gpu=-1"),
                                    std::string("hold a share:30% pid=1 gpu=GPU-57a2-1"),
                                    std::string("hold a share:30% pid=1 gpu=0,"),
                                    std::string("hold a share:30% pid=1 holder=1 holder=1"),
                                    std::string("hold a share:30% pid=1 cgroup=a"),
                                    std::string("hold a share:30% pid=1 cgroup=/"),
                                    std::string("hold a share:30% pid=1 what=1"),
                                    "list" + std::string(4096, ' ')}) {
        const auto request = parse_request(line);
        ASSERT_FALSE(request) << line;
        EXPECT_EQ(request.error().exit, bad_usage) << line;
        EXPECT_FALSE(request.error().sentence.empty());
        // The sentence is sent as an answer of one line.
        EXPECT_EQ(nvdebug::base::printable(request.error().sentence), request.error().sentence);
        EXPECT_LT(request.error().sentence.size(), 600U) << request.error().sentence;
    }
}

/// Random lines, and lines that are nearly right, are requests or get a harmless sentence.
TEST(Requests, AreTakenOrRefusedAtRandom) {
    std::mt19937 random(20261126);
    const auto below = [&](std::size_t most) { return random() % most; };
    const std::string good = "hold job:1.0 share:30%,cap:50% gpu=0 pid=17 holder=19 cgroup=/a/b";
    std::size_t taken = 0;
    for (int n = 0; n < 20'000; n++) {
        std::string line = n % 2 ? good : std::string(below(200), 'x');
        const std::size_t changes = n % 2 ? below(4) : line.size();
        for (std::size_t change = 0; change < changes && !line.empty(); change++) {
            const std::size_t at = below(line.size());
            switch (below(4)) {
            case 0:
                line[at] = static_cast<char>(below(256));
                break;
            case 1:
                line.erase(at, 1 + below(5));
                break;
            case 2:
                line.insert(at, line.substr(below(line.size()), below(20)));
                break;
            default:
                line[at] = " =:%,/0159ab"[below(12)];
            }
        }
        const auto request = parse_request(line);
        if (request) {
            taken++;
            EXPECT_FALSE(request->verb == Verb::hold && request->pids.empty() &&
                         request->cgroups.empty());
            EXPECT_LE(request->name.size(), 128U);
            EXPECT_LE(request->goal.part, qos::whole);
        } else {
            EXPECT_EQ(nvdebug::base::printable(request.error().sentence), request.error().sentence);
            EXPECT_LT(request.error().sentence.size(), 600U);
        }
    }
    EXPECT_GT(taken, 1000U) << "nothing of it is right";
}

} // namespace
