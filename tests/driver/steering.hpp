// SPDX-License-Identifier: MIT OR GPL-2.0
// Two processes with tasks that tests control through the stand-in for NVIDIA's driver.
#pragma once

#include "bench.hpp"
#include "lib/base/process.hpp"
#include "tests/support/own_machine.hpp"
#include "tests/support/waiting.hpp"

#include "nvdebug/gpu.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace driver_test {

// dev_runlist.ref.txt: offsets from a runlist's base, and the values that are written to a
// channel's word.
inline constexpr std::uint32_t channel_config = 4, channel_ram_place = 0xfffffff0,
                               enable_channel = 2, disable_channel = 3;

class Steering : public Driver {
  protected:
    /// 557 has TSG 0 with channels 0 and 1, and 558 has TSG 1 with channels 2 and 3. TSG 2 is the
    /// driver's own.
    Steering() : gpu(bench.tree(), 0) {
        const auto list = gpu.runlist(0).value();
        std::uint32_t index = 0;
        for (const nvdebug::Tsg &tsg : tsgs(list)) {
            headers.push_back(*list.place.address + std::uint64_t{index} * 16);
            index += 1 + static_cast<std::uint32_t>(tsg.channels.size());
            for (const nvdebug::Channel &channel : tsg.channels)
                instances.push_back(*channel.instance_place.address);
        }
        first = kernel.add_process(557, {instances[0], instances[1]});
        second = kernel.add_process(558, {instances[2], instances[3]});
        for (const std::uint32_t client : {first, second})
            for (auto &[name, object] : kernel.others[client])
                object.timeslice_us = 2000; // as the list has it
        kernel.processes[557].command = "one";
        kernel.processes[558].command = "two";
        kernel.processes[557].started = 10;
        kernel.processes[558].started = 20;
        const auto engines = gpu.engines().value();
        const std::uint32_t base =
            *std::ranges::find(engines, "GR0", &nvdebug::Engine::name)->runlist_base;
        channel_ram = *kernel.registers(base + channel_config) & channel_ram_place;
        for (std::uint32_t id = 0; id < 6; id++)
            ids[instances[id]] = id;
        const auto memory = kernel.memory;
        kernel.memory = [this, memory](std::uint64_t address) {
            const auto word = words.find(address);
            return word == words.end() ? memory(address) : word->second;
        };
        kernel.effect = [this](const StandIn::Change &change) { come_of(change); };
    }

    ~Steering() override {
        EXPECT_TRUE(comes_true([&] { return keepers().empty(); })) << "a keeper is left";
    }

    /// Returns the processes that would undo what this test has changed.
    std::set<pid_t> keepers() const { return kernel.forked("nvdebug-keeper"); }
    /// Returns one of the keepers; 0: there is none.
    pid_t keeper() const {
        const auto all = keepers();
        return all.empty() ? 0 : *all.begin();
    }
    void kill_keepers() const { kill_at_once(keepers()); }
    /// Kills processes, and returns when the library finds none of them alive. keepers() does not
    /// show that, because it finds a process by its memory, which a killed process loses before it
    /// has ended.
    static void kill_at_once(const std::set<pid_t> &all) {
        std::vector<nvdebug::base::Birth> births;
        for (const pid_t one : all)
            if (const auto state = nvdebug::base::state_of(static_cast<std::uint32_t>(one)))
                births.push_back(state->birth);
        for (const pid_t one : all)
            ::kill(one, SIGKILL);
        EXPECT_TRUE(comes_true([&] { return std::ranges::none_of(births, nvdebug::base::lives); }));
    }

    /// Holds processes with a patience that suits a slow machine, unless @p options has another
    /// one.
    std::unique_ptr<nvdebug::TaskHold> hold(const std::vector<std::uint32_t> &pids,
                                            nvdebug::HoldOptions options = {}) {
        if (options.patience == nvdebug::HoldOptions().patience)
            options.patience = patience;
        auto held = gpu.hold(pids, options);
        EXPECT_TRUE(held) << held.error().sentence;
        return held ? std::move(*held) : nullptr;
    }
    static void put(nvdebug::TaskHold &held, const nvdebug::TaskState &state) {
        ASSERT_TRUE(held.ask(state));
        const auto done = held.finish();
        ASSERT_TRUE(done) << done.error().sentence;
    }
    /// Starts another process, which calls @p work with a function that waits until the process is
    /// killed. Returns its pid when it waits, or 0 if it has ended.
    template <typename Work>
    static pid_t start_owner(Work work) {
        int ends[2];
        EXPECT_EQ(::pipe(ends), 0);
        const pid_t owner = ::fork();
        if (owner == 0) {
            work([&] {
                static_cast<void>(!::write(ends[1], "", 1));
                for (;;)
                    ::pause();
            });
            ::_exit(0);
        }
        ::close(ends[1]);
        char byte = 0;
        const bool waits = ::read(ends[0], &byte, 1) == 1;
        ::close(ends[0]);
        if (waits)
            return owner;
        ::waitpid(owner, nullptr, 0);
        return 0;
    }
    static void kill_owner(pid_t owner) {
        ::kill(owner, SIGKILL);
        ::waitpid(owner, nullptr, 0);
    }

    static std::vector<nvdebug::Tsg> tsgs(const nvdebug::Runlist &list) {
        std::vector<nvdebug::Tsg> found;
        for (const auto &item : list.items)
            if (const auto *const tsg = std::get_if<nvdebug::Tsg>(&item))
                found.push_back(*tsg);
        return found;
    }

    /// Changes the modelled GPU as the driver would.
    void come_of(const StandIn::Change &change) {
        const auto client = kernel.others.find(change.client);
        if (client == kernel.others.end())
            return; // the process has ended since
        const StandIn::Object &object = client->second.at(change.object);
        if (change.command == rm::DisableChannels::command) {
            const std::uint32_t id = ids.at(object.instance.address);
            bench.gpu.bar_write(nvmodel::Bar::registers, channel_ram + 4 * id,
                                change.value ? enable_channel : disable_channel, 4);
        } else if (change.command == rm::SetTimeslice::command) {
            // Measured: 512 us become 250 << 1.
            std::uint64_t timeout = change.value * 1000 / 1024, scale = 0;
            for (; timeout > 255; timeout >>= 1)
                scale++;
            const std::uint64_t at = headers[change.client == first    ? 0
                                             : change.client == second ? 1
                                                                       : 2];
            words[at] = static_cast<std::uint32_t>(timeout << 24 | scale << 16 |
                                                   (kernel.memory(at) & 0xffff));
        }
    }

    std::vector<bool> enabled() const {
        std::vector<bool> found;
        const nvdebug::Runlist list = gpu.runlist(0, nvdebug::Detail::brief).value();
        for (const auto &listed : nvdebug::channels_of(list))
            found.push_back(*listed.channel->enabled);
        return found;
    }

    std::vector<std::uint64_t> timeslices_us() const {
        std::vector<std::uint64_t> found;
        for (const nvdebug::Tsg &tsg : tsgs(gpu.runlist(0, nvdebug::Detail::brief).value()))
            found.push_back(tsg.timeslice_ns / 1000);
        return found;
    }

    template <typename T>
    static void expect_error(const nvdebug::Result<T> &result, nvdebug::ErrorCode code,
                             const std::string &part) {
        ASSERT_FALSE(result) << part;
        EXPECT_EQ(result.error().code, code) << result.error().sentence;
        EXPECT_NE(result.error().sentence.find(part), std::string::npos) << result.error().sentence;
    }

    static nvdebug::Request pause(std::vector<std::uint32_t> pids) {
        return nvdebug::pause_tasks(pids);
    }
    static nvdebug::Request timeslice(std::vector<std::uint32_t> pids, std::uint64_t us) {
        return nvdebug::set_task_timeslice(pids, us * 1000);
    }

    static constexpr std::chrono::milliseconds patience{60'000};
    const std::vector<bool> all_on = {true, true, true, true, true, true};
    const nvdebug::Gpu gpu;
    std::uint32_t first = 0, second = 0, channel_ram = 0;
    std::vector<std::uint64_t> instances;         // of channels, by id
    std::vector<std::uint64_t> headers;           // where a list has its TSGs
    std::map<std::uint64_t, std::uint32_t> ids;   // of channels, by instance block
    std::map<std::uint64_t, std::uint32_t> words; // of memory, that have changed
};

} // namespace driver_test
