// SPDX-License-Identifier: MIT OR GPL-2.0
#include "watch.hpp"

#include <algorithm>
#include <chrono>
#include <deque>
#include <fmt/format.h>
#include <memory>
#include <thread>

#include "lib/recording/events.hpp"
#include "nvdebug/nvdebug.hpp"

namespace nvqos {
namespace {

/// NVIDIA's driver keeps 65,535 unread switches, which take seconds to come.
constexpr std::chrono::milliseconds between_reads{50};

/// Follows the switches of one GPU, and passes them on as the events of a recording.
class WatchedGpu {
  public:
    static Outcome<std::unique_ptr<WatchedGpu>> start(nvdebug::Gpu gpu, std::uint32_t number,
                                                      simulation::Watched &watched) {
        std::unique_ptr<WatchedGpu> made(new WatchedGpu(std::move(gpu), number, watched));
        auto reader = made->gpu_.follow_switches();
        if (!reader)
            return fail(reader.error());
        made->reader_ = std::move(*reader);
        const auto now = made->reader_->now_ns();
        if (!now)
            return fail(now.error());
        made->begin_ = *now;
        made->turns_ = nvdebug::SwitchTurns(*now);
        if (const auto info = made->gpu_.info())
            made->recorded_ = {number, info->chip, info->pci_address,
                               facts_of(made->gpu_).product.name};
        made->read_owners();
        return made;
    }

    Outcome<void> read() {
        batch_.clear();
        const auto dropped = reader_->read(batch_);
        if (!dropped)
            return fail(dropped.error());
        std::vector<nvdebug::Turn> turns;
        for (const nvdebug::ContextSwitch &one : batch_) {
            turns_.add(one, turns);
            last_ = one.ns;
        }
        // The driver dropped switches that came after the last one of this batch.
        if (*dropped > dropped_) {
            turns_.lose(turns);
            show(turns);
            watched_.lost(lane_, last_, *dropped - dropped_);
            dropped_ = *dropped;
            return {};
        }
        show(turns);
        return {};
    }

    Outcome<void> end() {
        if (auto done = read(); !done)
            return done;
        const auto now = reader_->now_ns();
        if (!now)
            return fail(now.error());
        std::vector<nvdebug::Turn> turns;
        turns_.end(*now, turns);
        show(turns);
        watched_.end(lane_, {begin_, *now});
        return {};
    }

    const drawing::RecordedGpu &recorded() const { return recorded_; }

  private:
    WatchedGpu(nvdebug::Gpu gpu, std::uint32_t number, simulation::Watched &watched)
        : gpu_(std::move(gpu)),
          watched_(watched), recorded_{number, {}, {}}, lane_{number, "GR0",
                                                              drawing::Lane::Means::switches} {}

    /// Reads the timeslices of processes. If that fails, timeslices are found from turns.
    void read_owners() {
        const auto tasks = nvdebug::owners_on_lists(gpu_);
        if (!tasks)
            return;
        for (const nvdebug::Process &each : tasks->owners().processes) {
            drawing::RecordedProcess fresh{each.pid, each.command, each.cgroup, std::nullopt, {},
                                           0,        each.started};
            for (const nvdebug::OwnedTsg &tsg : nvdebug::tsgs_of(tasks->owners(), each.pid))
                if (const nvdebug::RunlistPlace *const place = tasks->place_of(tsg);
                    place && place->tsg && place->header)
                    fresh.tsgs.push_back(
                        {place->runlist, *place->tsg, place->header->timeslice_ns});
            processes_.insert(lane_.gpu, fresh);
        }
    }

    void show(std::vector<nvdebug::Turn> &turns) {
        for (nvdebug::Turn &turn : turns) {
            const std::uint32_t pid = turn.who.pid.value_or(0);
            if (pid)
                turn.who.started = reader_->started(pid);
            const drawing::RecordedProcess *process = processes_.find(lane_.gpu, turn.who);
            if (!process && pid) {
                const nvdebug::Process found = reader_->process(pid);
                process = processes_.insert(
                    lane_.gpu, {pid, found.command, found.cgroup, {}, {}, 0, turn.who.started});
            }
            watched_.turn(lane_, turn, process);
        }
    }

    nvdebug::Gpu gpu_;
    simulation::Watched &watched_;
    drawing::RecordedGpu recorded_;
    const drawing::Lane lane_;
    std::unique_ptr<nvdebug::SwitchReader> reader_;
    nvdebug::SwitchTurns turns_{std::nullopt};
    recording::RecordedProcesses processes_;
    std::vector<nvdebug::ContextSwitch> batch_;
    std::uint64_t begin_ = 0, last_ = 0, dropped_ = 0;
};

using WatchedGpus = std::deque<std::unique_ptr<WatchedGpu>>;

/// Calls a function of each GPU. A GPU whose call fails is left out with a warning.
Outcome<void> each_of(WatchedGpus &gpus, Outcome<void> (WatchedGpu::*what)()) {
    std::optional<Failure> last;
    std::erase_if(gpus, [&](const std::unique_ptr<WatchedGpu> &gpu) {
        const auto done = (*gpu.*what)();
        if (!done)
            last = done.error();
        return !done;
    });
    if (last && gpus.empty())
        return tl::unexpected(*last);
    if (last)
        warn(last->sentence + "; that GPU is left out");
    return {};
}

Outcome<WatchedGpus> start_all(const nvdebug::Tree &tree, const std::vector<std::uint32_t> &numbers,
                               simulation::Watched &watched) {
    WatchedGpus gpus;
    drawing::RecordingHead head;
    std::optional<Failure> last;
    for (const std::uint32_t number : numbers) {
        auto started = WatchedGpu::start(nvdebug::Gpu(tree, number), number, watched);
        if (!started) {
            last = started.error();
            if (numbers.size() > 1)
                warn(fmt::format("gpu{} is left out: {}", number, last->sentence));
            continue;
        }
        head.gpus.push_back((*started)->recorded());
        gpus.push_back(std::move(*started));
    }
    if (gpus.empty())
        return tl::unexpected(*last);
    watched.head(head);
    return gpus;
}

} // namespace

Outcome<void> watch(const Open &open, const std::vector<std::string> &names, qos::Ns length,
                    simulation::Watched &watched) {
    const auto tree = open();
    if (!tree)
        return tree.error().code == nvdebug::ErrorCode::not_found
                   ? fail(not_supported,
                          tree.error().sentence + "; '--from RECORDING' needs no driver")
                   : fail(tree.error());
    constexpr std::chrono::seconds patience{10};
    const auto numbers = find_numbers(names, *tree, open, patience, warn);
    if (!numbers)
        return tl::unexpected(numbers.error());
    auto gpus = start_all(*tree, *numbers, watched);
    if (!gpus)
        return tl::unexpected(gpus.error());
    const auto until = std::chrono::steady_clock::now() + std::chrono::nanoseconds(length);
    while (std::chrono::steady_clock::now() < until) {
        std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(
            between_reads, until - std::chrono::steady_clock::now()));
        if (auto done = each_of(*gpus, &WatchedGpu::read); !done)
            return done;
    }
    return each_of(*gpus, &WatchedGpu::end);
}

} // namespace nvqos
