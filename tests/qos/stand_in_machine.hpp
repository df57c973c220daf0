// SPDX-License-Identifier: MIT OR GPL-2.0
// A simulated GPU behind the stand-in for NVIDIA's driver, with real processes as tasks: for programs
// that are started as stand-ins of nvqos and nvdebugctl. The folder NVQOS_STAND_IN has their state.
//
// A process uses a GPU from when there is a file FOLDER/tasks/PID until it ends, and always has
// work. The file may have the numbers of the GPUs that the process uses, separated by blanks; empty:
// the first one. There may be three such processes on each GPU, because the model's GPU has channels
// for three. Each further GPU takes longer for a switch, so that GPUs do not keep step by
// themselves. Each
// program simulates a GPU of its own from its start on, so one does not show what another has
// changed. Each change of a task, also by keepers that outlive the program, adds a line to
// FOLDER/changes: `PID timeslice MICROSECONDS`, or `PID channels 0|1` for each channel that is
// disabled or enabled. Behind it stands the GPU's number, unless that is 0. Each task begins with a timeslice of 2000 us. With NVQOS_STAND_IN_MPS up to
// two tasks are clients of one MPS server: each has a channel of the first TSG. While there are
// files FOLDER/refuse/N, each change that enables channels removes one of them and is refused, as if
// the GPU answered late.
//
// With NVQOS_STAND_IN_GPUS=N there are N GPUs. While there is a file
// FOLDER/bad.G, GPU G cannot be opened, with the errno that the file has (empty: EIO). With lost.G
// it is lost, and with hangs.G no request about it is answered.
#pragma once

#include "served.hpp"
#include "stand_in_parts.hpp"

#include "lib/base/inherited.hpp"
#include "lib/base/process.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <time.h>
#include <unistd.h>

namespace stand_in {

using nvdebug::base::Birth;

inline std::string text_of(const std::string &path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

class Machine final : public served::Served {
  public:
    explicit Machine(const std::filesystem::path &folder)
        : folder_(folder), tasks_(folder / "tasks"), changes_(folder / "changes"),
          refuse_(folder / "refuse") {
        kernel.end_process(557);
        kernel.end_process(558);
        kernel.real_processes = true;
        const char *const gpus = std::getenv("NVQOS_STAND_IN_GPUS");
        for (std::uint32_t gpu = 1; gpus && gpu < std::strtoul(gpus, nullptr, 10); gpu++)
            add_gpu(gpu);
        std::filesystem::create_directory(folder / "clients");
        if (gpus)
            make_faulty();
        began_ = monotonic();
        kernel.clock = [this] { return pass(); };
        // nvqos asks for the time less often than for switches.
        kernel.before_flush = [this] { pass(); };
        kernel.before_list = [this] { follow_tasks(); };
        kernel.effect = [this](const driver_test::StandIn::Change &change) { come(change); };
        // The processes run already, so their clients keep the names from an earlier stand-in.
        follow_tasks();
        kernel.refuses = [this](const driver_test::rm::Control &asked) { return refuse(asked); };
        kernel.noted = [this](const driver_test::StandIn::Change &change) { note(change); };
    }

    nvdebug::Tree tree() const { return bench.tree(); }

  private:
    /// A process on a GPU.
    struct Task {
        Birth birth;
        std::uint32_t gpu;
        std::size_t place; ///< the number of its TSG on the GPU
        std::uint32_t client;
    };

    void TestBody() override {}

    static qos::Ns monotonic() {
        timespec now{};
        clock_gettime(CLOCK_MONOTONIC, &now);
        return static_cast<qos::Ns>(now.tv_sec) * qos::second + now.tv_nsec;
    }

    void add_gpu(std::uint32_t gpu) {
        kernel.add_card(gpu, static_cast<std::uint8_t>(gpu + 1));
        simulation::Gpus slower = gpus;
        slower.switching += gpu * 40 * qos::us;
        others.try_emplace(kernel.cards.back().gpu_id, slower);
    }

    served::RecordedGpu &recorded(std::uint32_t gpu) {
        return gpu == 0 ? one : others.at(kernel.cards[gpu].gpu_id);
    }

    qos::Ns time_of(const driver_test::StandIn::Change &change) const override {
        return change.ns - began_;
    }

    std::uint64_t pass() {
        follow_tasks();
        run_until(monotonic() - began_);
        return static_cast<std::uint64_t>(begin + sim.now());
    }

    /// Returns the number of the GPU that a request is about.
    std::optional<std::uint32_t> gpu_of(unsigned number, const void *argument) {
        namespace rm = driver_test::rm;
        if (number != rm::esc_control)
            return std::nullopt;
        const auto &asked = *static_cast<const rm::Control *>(argument);
        const auto stopped = kernel.stop();
        const auto known = kernel.gpus_of.find(asked.client);
        return known == kernel.gpus_of.end() ? std::nullopt
                                             : std::optional((known->second >> 8) - 1);
    }

    bool is(const std::string &what, std::uint32_t gpu) const {
        return std::filesystem::exists(folder_ / (what + "." + std::to_string(gpu)));
    }

    void follow_bad_gpus() {
        const auto stopped = kernel.stop();
        kernel.cannot_open.clear();
        for (std::uint32_t gpu = 0; gpu < kernel.cards.size(); gpu++) {
            const std::string number = std::to_string(gpu);
            if (!is("bad", gpu))
                continue;
            const auto error = std::atoi(text_of(folder_ / ("bad." + number)).c_str());
            kernel.cannot_open["/dev/nvidia" + number] = error ? error : EIO;
        }
    }

    void make_faulty() {
        kernel.before_request = [this](unsigned number, const void *argument) {
            for (const auto gpu = gpu_of(number, argument); gpu && is("hangs", *gpu);)
                ::usleep(10'000);
            follow_bad_gpus();
        };
        kernel.garble = [this](unsigned number, void *answer, std::size_t) {
            if (const auto gpu = gpu_of(number, answer); gpu && is("lost", *gpu))
                static_cast<driver_test::rm::Control *>(answer)->status =
                    driver_test::rm::gpu_is_lost;
        };
    }

    void follow_tasks() {
        const auto stopped = kernel.stop(); // nvqos searches in another thread
        std::erase_if(running_, [&](const Task &task) {
            if (nvdebug::base::lives(task.birth))
                return false;
            if (kernel.processes.contains(task.birth.pid))
                kernel.end_process(task.birth.pid);
            served::RecordedGpu &gpu = recorded(task.gpu);
            gpu.sim.stop(gpu.clients.at(task.client));
            return true;
        });
        std::error_code none;
        for (const auto &entry : std::filesystem::directory_iterator(tasks_, none)) {
            const auto pid = static_cast<std::uint32_t>(
                std::strtoul(entry.path().filename().c_str(), nullptr, 10));
            const auto state = nvdebug::base::state_of(pid);
            if (!state || state->has_ended || kernel.processes.contains(pid))
                continue;
            std::istringstream numbers(text_of(entry.path()));
            std::set<std::uint32_t> used{std::istream_iterator<std::uint32_t>(numbers), {}};
            if (used.empty())
                used = {0};
            for (const std::uint32_t gpu : used)
                if (gpu < kernel.cards.size())
                    begin_task(state->birth, gpu);
        }
    }

    void begin_task(const Birth &birth, std::uint32_t gpu) {
        std::size_t place = 0;
        while (std::ranges::any_of(
            running_, [&](const Task &task) { return task.gpu == gpu && task.place == place; }))
            place++;
        if (2 * place + 1 >= instances.size())
            return;
        std::vector<std::uint64_t> own = {instances[2 * place], instances[2 * place + 1]};
        if (std::getenv("NVQOS_STAND_IN_MPS"))
            own = {instances[place % 2]};
        const bool is_new = !kernel.processes.contains(birth.pid);
        const std::uint32_t made = kernel.add_process(birth.pid, own),
                            client = rename(birth.pid, gpu, made);
        for (auto &[name, object] : kernel.others[client]) {
            object.timeslice_us = 2000;
            object.gpu_id = kernel.cards[gpu].gpu_id;
        }
        const std::string proc = "/proc/" + std::to_string(birth.pid) + "/";
        auto &process = kernel.processes[birth.pid];
        process.uses_gpu = (!is_new && process.uses_gpu) || gpu == 0;
        if (gpu > 0)
            process.other_gpus.insert(gpu);
        process.started = birth.started;
        process.command = text_of(proc + "comm");
        process.command.resize(std::min(process.command.find('\n'), process.command.size()));
        process.cgroup = text_of(proc + "cgroup");
        process.status = text_of(proc + "status");
        served::RecordedGpu &on = recorded(gpu);
        on.add(client, birth.pid, simulated::always());
        running_.push_back({birth, gpu, place, client});
    }

    /// Gives the client of a process the name that it had with another stand-in for this folder.
    std::uint32_t rename(std::uint32_t pid, std::uint32_t gpu, std::uint32_t client) {
        const std::filesystem::path path =
            folder_ / "clients" / (std::to_string(pid) + "." + std::to_string(gpu));
        const auto kept =
            static_cast<std::uint32_t>(std::strtoul(text_of(path).c_str(), nullptr, 10));
        if (!kept) {
            std::ofstream(path) << client;
            return client;
        }
        auto objects = std::move(kernel.others.extract(client).mapped());
        objects[kept] = objects.extract(client).mapped();
        for (auto &[name, object] : objects)
            if (object.parent == client)
                object.parent = kept;
        kernel.others[kept] = std::move(objects);
        kernel.processes[pid].clients.erase(client);
        kernel.processes[pid].clients.insert(kept);
        return kept;
    }

    /// Applies a change to the GPU, unless the task has ended.
    void come(const driver_test::StandIn::Change &change) {
        for (const Task &task : running_) {
            // The GPUs have the same memory, in which the first one shows its changes.
            if (task.gpu != 0 || task.client != change.client)
                continue;
            first = task.place == 0 ? change.client : 0;
            second = task.place == 1 ? change.client : 0;
            come_of(change);
        }
    }

    /// Returns the status for a request, also in keepers.
    std::uint32_t refuse(const driver_test::rm::Control &asked) const {
        constexpr std::uint32_t timed_out = 0x65, granted = driver_test::rm::ok;
        if (asked.command != driver_test::rm::DisableChannels::command ||
            driver_test::at<driver_test::rm::DisableChannels>(asked.params)->disable)
            return granted;
        std::error_code none;
        for (const auto &entry : std::filesystem::directory_iterator(refuse_, none))
            if (std::filesystem::remove(entry.path(), none))
                return timed_out;
        return granted;
    }

    void note(const driver_test::StandIn::Change &change) const {
        for (const auto &[pid, process] : kernel.processes) {
            if (!process.clients.contains(change.client))
                continue;
            const bool timeslice = change.command == driver_test::rm::SetTimeslice::command;
            const auto task = std::ranges::find(running_, change.client, &Task::client);
            const std::uint32_t gpu = task == running_.end() ? 0 : task->gpu;
            const std::string line =
                std::to_string(pid) + (timeslice ? " timeslice " : " channels ") +
                std::to_string(change.value) + (gpu ? " " + std::to_string(gpu) : "") + "\n";
            // A keeper has closed its inherited descriptors, so the file is opened for each line.
            const int file = ::open(changes_.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
            static_cast<void>(!::write(file, line.data(), line.size()));
            ::close(file);
        }
    }

    const std::filesystem::path folder_, tasks_, changes_, refuse_;
    qos::Ns began_;
    std::vector<Task> running_;
};

/// Runs a program over the machine in the folder NVQOS_STAND_IN, and ends this process with the
/// status that @p program returns. It returns only if there is no such folder.
/// @param program is called with the machine
template <typename Program>
int run(const char *name, Program program) {
    nvdebug::base::make_inheritance_usable(); // as the programs themselves do
    const char *const folder = std::getenv("NVQOS_STAND_IN");
    if (!folder) {
        std::fprintf(stderr, "%s: NVQOS_STAND_IN names no folder\n", name);
        return 1;
    }
    nvdebug::base::survive_broken_pipes();
    // The machine is never destroyed, because its destructor needs a running test.
    const int status = program(*new Machine(folder));
    std::fflush(nullptr);
    ::_exit(status);
}

} // namespace stand_in
