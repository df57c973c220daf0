// SPDX-License-Identifier: MIT OR GPL-2.0
// Runs `nvdebugctl task` over the stand-in for NVIDIA's driver.
#include "steering.hpp"

#include "cli/context.hpp"
#include "cli/json.hpp"
#include "commands.hpp"

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <thread>
#include <unistd.h>

namespace driver_test {
namespace {

using nvdebugctl::Json;
using Options = std::map<std::string, std::string, std::less<>>;

class Tasks : public Steering {
  protected:
    /// Blocks SIGALRM, because a lease may end before the test waits for it.
    Tasks() {
        sigset_t alarm;
        sigemptyset(&alarm);
        sigaddset(&alarm, SIGALRM);
        ::pthread_sigmask(SIG_BLOCK, &alarm, nullptr);
    }

    /// A command of nvdebugctl, parsed as if it had been typed.
    struct Typed {
        nvdebugctl::Invocation invocation;
        std::unique_ptr<nvdebugctl::Context> context;

        nvdebugctl::Outcome<nvdebugctl::Document> run() {
            if (const auto check = invocation.command->check)
                if (auto checked = check(*context); !checked)
                    return tl::unexpected(checked.error());
            return invocation.command->run(*context);
        }
    };

    std::unique_ptr<Typed> type(const char *verb, std::vector<std::string> pids,
                                Options options = {}) {
        auto typed = std::make_unique<Typed>();
        typed->invocation.command =
            nvdebugctl::find_command(*nvdebugctl::find_object(objects, "task"), verb);
        typed->invocation.arguments["PID"] = std::move(pids);
        typed->invocation.options = std::move(options);
        typed->context = std::make_unique<nvdebugctl::Context>(typed->invocation);
        typed->context->about(gpu);
        return typed;
    }

    static void wait_for(const nvdebugctl::Document &document) {
        const auto ended = document.then();
        EXPECT_TRUE(ended) << ended.error().error.sentence;
    }

    /// Sends SIGINT, as Ctrl-C does, as soon as @p condition holds, and waits for the end of the
    /// lease.
    template <typename Condition>
    static void interrupt_when(Condition condition, const nvdebugctl::Document &document) {
        sigset_t interrupt;
        sigemptyset(&interrupt);
        sigaddset(&interrupt, SIGINT);
        ::pthread_sigmask(SIG_BLOCK, &interrupt, nullptr);
        std::thread user([condition] {
            EXPECT_TRUE(comes_true(condition));
            ::kill(::getpid(), SIGINT);
        });
        wait_for(document);
        user.join();
        ::pthread_sigmask(SIG_UNBLOCK, &interrupt, nullptr);
    }

    /// Returns the clients that got a timeslice, from change number @p first_change on.
    std::set<std::uint32_t> set_since(std::size_t first_change) const {
        std::set<std::uint32_t> found;
        const auto changes = kernel.changes();
        for (std::size_t n = first_change; n < changes.size(); n++)
            if (changes[n].command == rm::SetTimeslice::command && changes[n].by)
                found.insert(changes[n].client);
        return found;
    }

    const std::vector<nvdebugctl::Object> objects = nvdebugctl::all_objects();
    const std::vector<std::uint64_t> untouched_us = {1998, 1998, 1998};
};

TEST_F(Tasks, AreListed) {
    const auto document = type("list", {})->run();
    ASSERT_TRUE(document) << document.error().error.sentence;
    ASSERT_EQ(document->data.size(), 2U);
    EXPECT_EQ(document->data[1]["pid"], 558);
    EXPECT_EQ(document->data[1]["tsgs"], Json::array({"0:1"}));
    EXPECT_EQ(document->data[1]["mps"], false);
    EXPECT_EQ(document->data[0]["share_percent"], 0) << "nobody came or went";
}

TEST_F(Tasks, ArePausedForAWhile) {
    const auto typed = type("pause", {"558"}, {{"--for", "0.05"}});
    const auto document = typed->run();
    ASSERT_TRUE(document) << document.error().error.sentence;
    EXPECT_EQ(document->data["changes"][0]["old"], 2);
    EXPECT_EQ(document->data["changes"][0]["new"], 0);
    wait_for(*document);
    EXPECT_EQ(enabled(), all_on);
}

TEST_F(Tasks, ArePreempted) {
    const auto document = type("preempt", {"558"})->run();
    ASSERT_TRUE(document) << document.error().error.sentence;
    EXPECT_EQ(document->data["changes"][0]["property"], "on_engines");
}

TEST_F(Tasks, AreShownAndNotChangedWithDryRun) {
    const auto document = type("pause", {"558"}, {{"--dry-run", ""}})->run();
    ASSERT_TRUE(document) << document.error().error.sentence;
    EXPECT_EQ(document->data["write"]["text"], "558");
    EXPECT_EQ(kernel.asked_to_change, 0U);
}

TEST_F(Tasks, LeaveNothingToUndoWhenTheyEnd) {
    const auto typed = type("pause", {"558"}, {{"--for", "0.05"}});
    const auto document = typed->run();
    ASSERT_TRUE(document) << document.error().error.sentence;
    kernel.effect = nullptr;
    kernel.end_process(558);
    wait_for(*document);
}

TEST_F(Tasks, GetAShare) {
    const auto typed = type("set", {"557"}, {{"--share", "25%"}, {"--for", "0.05"}});
    const auto document = typed->run();
    ASSERT_TRUE(document) << document.error().error.sentence;
    const auto now = timeslices_us();
    const auto turn = [&](std::size_t n) { return static_cast<double>(now[n]) + 103; };
    EXPECT_NEAR(turn(0) / (turn(0) + turn(1)), 0.25, 0.01);
    EXPECT_EQ(now[2], 1998U) << "the driver's own is left alone";
    wait_for(*document);
    EXPECT_EQ(timeslices_us(), untouched_us);
}

TEST_F(Tasks, RefuseOptionsThatMakeNoSense) {
    const std::vector<std::pair<std::vector<std::string>, Options>> all = {
        {{"557", "558"}, {{"--share", "25%"}}}, // there is no other task
        {{"557"}, {{"--share", "100%"}}},
        {{"557"}, {{"--share", "25%"}, {"--timeslice", "2ms"}}},
        {{"557"}, {{"--hold", ""}, {"--timeslice", "2ms"}}},
        {{"557"}, {{"--share", "25%"}, {"--hold", ""}, {"--for", "1"}}},
        {{}, {{"--command", "none"}, {"--share", "25%"}}},
        {{"557"}, {{"--timeslice", "500"}}},
        {{"557"}, {{"--timeslice", "50us"}}},
        {{"557"}, {{"--timeslice", "1001ms"}}}};
    for (const auto &[pids, options] : all) {
        const auto document = type("set", pids, options)->run();
        ASSERT_FALSE(document) << options.begin()->second;
        EXPECT_NE(document.error().error.sentence, "");
    }
    EXPECT_EQ(kernel.asked_to_change, 0U);
}

/// nvtaskset sets TPCs. It ends with this status for the second of two processes.
class Tpcs : public Tasks,
             public testing::WithParamInterface<std::pair<const char *, nvdebugctl::Exit>> {
  protected:
    Tpcs() {
        std::filesystem::create_directory(folder);
        setenv("PATH", (folder + ":" + path).c_str(), 1);
    }
    ~Tpcs() override {
        setenv("PATH", path.c_str(), 1);
        std::filesystem::remove_all(folder);
    }
    void nvtaskset_is(const std::string &script) const {
        const std::string file = folder + "/nvtaskset";
        std::ofstream(file) << "#!/bin/sh\n" << script << "\n";
        std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    }
    auto set(std::vector<std::string> pids) {
        return type("set", std::move(pids), {{"--tpcs", "0-3"}})->run();
    }

    const std::string path = getenv("PATH");
    const std::string folder = testing::TempDir() + "tpcs." + std::to_string(getpid());
};

TEST_P(Tpcs, EndAsNvtasksetDoes) {
    const auto &[end, exit] = GetParam();
    nvtaskset_is(end);
    auto one = set({"557"});
    ASSERT_EQ(!one, exit != nvdebugctl::done);
    if (!one) {
        EXPECT_EQ(one.error().exit, exit);
    }
    nvtaskset_is("case \"$*\" in *557) exit 0; esac; " + std::string(end));
    auto both = set({"557", "558"});
    ASSERT_EQ(!both, exit != nvdebugctl::done);
    if (!both) {
        EXPECT_EQ(both.error().exit, nvdebugctl::partial);
        EXPECT_NE(both.error().error.sentence.find("558"), std::string::npos);
    }
    std::filesystem::remove(folder + "/nvtaskset");
}

INSTANTIATE_TEST_SUITE_P(Ends, Tpcs,
                         testing::Values(std::pair("exit 0", nvdebugctl::done),
                                         std::pair("exit 1", nvdebugctl::bad_usage),
                                         std::pair("exit 2", nvdebugctl::refused),
                                         std::pair("exit 3", nvdebugctl::not_supported),
                                         std::pair("exit 4", nvdebugctl::partial),
                                         std::pair("exit 125", nvdebugctl::failed),
                                         std::pair("kill -9 $$", nvdebugctl::failed)));

TEST_F(Tpcs, AreNotSetWithoutNvtaskset) {
    setenv("PATH", folder.c_str(), 1);
    const auto document = set({"557"});
    ASSERT_FALSE(document);
    EXPECT_NE(document.error().error.sentence.find("same package"), std::string::npos);
}

TEST_F(Tasks, KeepTheirShareAsOthersComeAndGo) {
    const auto typed = type("set", {}, {{"--command", "one"}, {"--share", "50%"}, {"--hold", ""}});
    const auto document = typed->run();
    ASSERT_TRUE(document) << document.error().error.sentence;
    EXPECT_EQ(timeslices_us()[0], timeslices_us()[1]);
    // A later look finds a third process.
    std::uint32_t third = 0;
    kernel.before_take = [&] {
        if (kernel.processes.contains(559))
            return;
        third = kernel.add_process(559, {instances[4], instances[5]});
        kernel.processes[559].started = 30;
        for (auto &[name, object] : kernel.others[third])
            object.timeslice_us = 2000;
    };
    interrupt_when([this] { return set_since(0).size() == 3; }, *document);
    kernel.before_take = nullptr;
    EXPECT_EQ(timeslices_us(), untouched_us);
    // The last value set before the undo counts.
    std::map<std::uint32_t, std::vector<std::uint64_t>> set; // by client
    for (const auto &change : kernel.changes())
        if (change.command == rm::SetTimeslice::command)
            set[change.client].push_back(change.value);
    ASSERT_EQ(set.size(), 3U);
    double all = 0;
    std::vector<double> turns;
    for (const auto &[client, values] : set) {
        ASSERT_GE(values.size(), 2U);
        turns.push_back(static_cast<double>(values[values.size() - 2]) + 103);
        all += turns.back();
        EXPECT_EQ(values.back(), 2000U);
    }
    EXPECT_NEAR(turns[0] / all, 0.5, 0.01);
    EXPECT_NEAR(turns[1], turns[2], 2);
}

TEST_F(Tasks, KeepTheirShareThoughOthersSetTheirTimeslice) {
    const auto typed = type("set", {"557"}, {{"--share", "50%"}, {"--hold", ""}});
    const auto document = typed->run();
    ASSERT_TRUE(document) << document.error().error.sentence;
    ASSERT_EQ(timeslices_us()[0], timeslices_us()[1]);
    // CUDA sets the timeslice of its own TSG, after the share was set.
    for (auto &[name, object] : kernel.others[second])
        if (object.object_class == rm::class_tsg)
            kernel.set_timeslice(second, name, 8000);
    const std::size_t before = kernel.changes().size();
    interrupt_when([&] { return set_since(before).size() == 2; }, *document);
    // The last value set before the undo counts.
    std::map<std::uint32_t, std::vector<std::uint64_t>> set; // by client
    for (const auto &change : kernel.changes())
        if (change.command == rm::SetTimeslice::command && change.by)
            set[change.client].push_back(change.value);
    ASSERT_GE(set[first].size(), 2U);
    ASSERT_GE(set[second].size(), 2U);
    EXPECT_EQ(set[first][set[first].size() - 2], set[second][set[second].size() - 2])
        << "halves again";
    EXPECT_EQ(set[first].back(), 2000U);
    EXPECT_EQ(set[second].back(), 8000U) << "as its own process has set it";
}

/// Another process has the number now, and gets no timeslice.
TEST_F(Tasks, GiveNoShareToALaterProcessWithTheNumber) {
    const auto typed = type("set", {"557"}, {{"--share", "50%"}, {"--hold", ""}});
    const auto document = typed->run();
    ASSERT_TRUE(document) << document.error().error.sentence;
    kernel.end_process(557);
    const std::uint32_t another = kernel.add_process(557, {instances[0]});
    kernel.processes[557].started = 77;
    const std::size_t before = kernel.changes().size();
    // One look lists all processes, and the descriptors of these two, so six lists are two looks.
    std::atomic<int> lists = 0;
    kernel.before_list = [&] { lists++; };
    interrupt_when([&] { return lists >= 6; }, *document);
    kernel.before_list = nullptr;
    const auto changes = kernel.changes();
    for (std::size_t n = before; n < changes.size(); n++)
        EXPECT_NE(changes[n].client, another);
}

// --- left-overs ---

/// A program was killed together with its keeper, and has left a lease that pauses 557.
class LeftTasks : public Tasks {
  protected:
    LeftTasks() {
        std::filesystem::remove_all(folder);
        std::optional<nvdebug::Lease> lease;
        if (auto granted = gpu.lease(pause({557})))
            lease.emplace(std::move(*granted));
        std::filesystem::path file;
        for (const auto &entry : std::filesystem::directory_iterator(folder))
            file = entry.path();
        std::ifstream read(file);
        const std::string text(std::istreambuf_iterator<char>(read), {});
        lease.reset();
        EXPECT_TRUE(gpu.perform(pause({557})));
        std::ofstream(folder + "/changes-left") << text;
        std::filesystem::permissions(folder + "/changes-left", std::filesystem::perms(0600));
        EXPECT_TRUE(comes_true([&] { return keepers().empty(); }));
        EXPECT_EQ(enabled()[0], false);
    }
    ~LeftTasks() override { std::filesystem::remove_all(folder); }

    const std::string folder = "/run/nvdebug";
};

TEST_F(LeftTasks, AreNamedByListAndRestoredOnce) {
    const auto list = type("list", {});
    ASSERT_TRUE(list->run());
    const auto notes = list->context->take_notes();
    ASSERT_EQ(notes.size(), 1U);
    EXPECT_EQ(notes[0],
              "process 557 (one) was left with changes to 2 channels and 0 TSGs by a keeper "
              "that was killed; 'sudo nvdebugctl task restore 557 --gpu 0' undoes them");
    EXPECT_EQ(enabled()[0], false);
    const auto restored = type("restore", {})->run();
    ASSERT_TRUE(restored) << restored.error().error.sentence;
    EXPECT_EQ(restored->data, Json::parse(R"([{"pid": 557, "command": "one", "channels": 2,
                                               "tsgs": 0, "restored": true}])"));
    EXPECT_EQ(enabled(), all_on);
    const auto again = type("restore", {});
    EXPECT_EQ(again->run()->data, Json::array());
    EXPECT_EQ(again->context->take_notes(), std::vector<std::string>{"no task was left changed"});
    EXPECT_TRUE(type("list", {})->context->take_notes().empty());
}

TEST_F(LeftTasks, AreRestoredByNumber) {
    const auto other = type("restore", {"558"})->run();
    ASSERT_FALSE(other);
    EXPECT_EQ(other.error().error.sentence, "nothing of process 558 was left changed on gpu0");
    EXPECT_EQ(enabled()[0], false);
    EXPECT_FALSE(type("restore", {"one"})->run());
    ASSERT_TRUE(type("restore", {"557"})->run());
    EXPECT_EQ(enabled(), all_on);
}

TEST_F(LeftTasks, AreMissingIfTheDriverRefusesToRestore) {
    kernel.refuse_from(1, 20);
    const auto typed = type("restore", {});
    const auto restored = typed->run();
    ASSERT_TRUE(restored);
    EXPECT_EQ(restored->data[0]["restored"], false);
    ASSERT_EQ(typed->context->missing().size(), 1U);
    EXPECT_NE(typed->context->missing()[0].sentence.find("nvdebugctl task resume 557"),
              std::string::npos);
    EXPECT_TRUE(comes_true([&] { return enabled() == all_on; }));
}

TEST_F(LeftTasks, GarbageIsMissing) {
    std::ofstream(folder + "/changes-left", std::ios::app) << "x";
    const auto typed = type("restore", {});
    ASSERT_TRUE(typed->run());
    ASSERT_EQ(typed->context->missing().size(), 1U);
    EXPECT_EQ(enabled()[0], false);
}

/// The end of the lease fails with a sentence that names the next step.
TEST_F(Tasks, ALeaseThatTheDriverRefusesToUndoSaysSo) {
    const auto typed = type("pause", {"558"}, {{"--for", "0.05"}});
    const auto document = typed->run();
    ASSERT_TRUE(document) << document.error().error.sentence;
    kernel.refuse_from(1, 20);
    const auto ended = document->then();
    ASSERT_FALSE(ended);
    EXPECT_NE(ended.error().error.sentence.find(
                  "process 558 is still changed ('nvdebugctl task resume 558' undoes it)"),
              std::string::npos)
        << ended.error().error.sentence;
    EXPECT_TRUE(comes_true([&] { return enabled() == all_on; }));
}

} // namespace
} // namespace driver_test
