// SPDX-License-Identifier: MIT OR GPL-2.0
// nvqos over a simulated GPU behind the stand-in for NVIDIA's driver, with real processes as tasks:
//
//     NVQOS_STAND_IN=FOLDER nvqos_stand_in [OPTION OF NVQOS]...
//
// A process uses the GPU, and always has work, from when there is a file FOLDER/tasks/PID until it
// ends; three at once at most, as the GPU of the model has channels for so many. What is changed of
// tasks is added to FOLDER/changes, also by keepers that outlive nvqos: a line
// `PID timeslice MICROSECONDS`, or `PID channels 0|1` for each channel that is disabled or enabled.
// Each task begins with a timeslice of 2000 us. With NVQOS_STAND_IN_MPS they are clients of one MPS
// server, two at most: each has a channel of the first TSG. With NVQOS_STAND_IN_TWO there is a
// second GPU, which no task uses.
#include "served.hpp"

#include "lib/base/inherited.hpp"
#include "lib/base/process.hpp"
#include "tools/nvqos/run.hpp"

#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <time.h>

namespace {

using nvdebug::base::Birth;

std::string text_of(const std::string &path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

class Machine final : public served::Served {
  public:
    explicit Machine(const std::filesystem::path &folder)
        : tasks_(folder / "tasks"), changes_(folder / "changes") {
        kernel.end_process(557);
        kernel.end_process(558);
        for (simulated::Task &task : sim.tasks)
            task.paused = true;
        kernel.real_processes = true;
        if (std::getenv("NVQOS_STAND_IN_TWO"))
            kernel.add_card(1, 2);
        began_ = monotonic();
        kernel.clock = [this] { return pass(); };
        // nvqos asks for the time less often than for switches.
        kernel.before_flush = [this] { pass(); };
        kernel.before_list = [this] { look(); };
        kernel.effect = [this](const driver_test::StandIn::Change &change) { come(change); };
        kernel.noted = [this](const driver_test::StandIn::Change &change) { note(change); };
    }

    int run(const std::vector<std::string> &words) {
        return nvqos::run(words, [this] { return nvdebug::Result<nvdebug::Tree>(bench.tree()); });
    }

  private:
    struct Task {
        Birth birth;
        std::size_t place;  ///< on the GPU: of its TSG
        std::size_t number; ///< in the simulation
    };

    void TestBody() override {}

    static qos::Ns monotonic() {
        timespec now{};
        clock_gettime(CLOCK_MONOTONIC, &now);
        return static_cast<qos::Ns>(now.tv_sec) * qos::second + now.tv_nsec;
    }

    std::uint64_t pass() {
        look();
        run_until(monotonic() - began_);
        return static_cast<std::uint64_t>(begin + sim.now());
    }

    void look() {
        const auto stopped = kernel.stop(); // nvqos searches in another thread
        std::erase_if(running_, [&](const Task &task) {
            if (nvdebug::base::lives(task.birth))
                return false;
            kernel.end_process(task.birth.pid);
            sim.tasks[task.number].arrives = nullptr;
            sim.tasks[task.number].work = 0;
            sim.tasks[task.number].paused = true;
            return true;
        });
        std::error_code none;
        for (const auto &entry : std::filesystem::directory_iterator(tasks_, none)) {
            const auto pid = static_cast<std::uint32_t>(
                std::strtoul(entry.path().filename().c_str(), nullptr, 10));
            const auto state = nvdebug::base::state_of(pid);
            if (!state || state->has_ended || kernel.processes.contains(pid))
                continue;
            begin_task(state->birth);
        }
    }

    void begin_task(const Birth &birth) {
        std::size_t place = 0;
        while (std::ranges::count(running_, place, &Task::place))
            place++;
        if (2 * place + 1 >= instances.size())
            return;
        std::vector<std::uint64_t> own = {instances[2 * place], instances[2 * place + 1]};
        if (std::getenv("NVQOS_STAND_IN_MPS"))
            own = {instances[place % 2]};
        const std::uint32_t client = kernel.add_process(birth.pid, own);
        for (auto &[name, object] : kernel.others[client])
            object.timeslice_us = 2000;
        const std::string proc = "/proc/" + std::to_string(birth.pid) + "/";
        auto &process = kernel.processes[birth.pid];
        process.started = birth.started;
        process.command = text_of(proc + "comm");
        process.command.resize(std::min(process.command.find('\n'), process.command.size()));
        process.cgroup = text_of(proc + "cgroup");
        process.status = text_of(proc + "status");
        clients[client] = sim.tasks.size();
        pid_of.push_back(birth.pid);
        running_.push_back({birth, place, sim.tasks.size()});
        sim.tasks.push_back({0, simulated::always(), 0, 2000 * qos::us});
    }

    /// What has come of it, if the task has not ended meanwhile.
    void come(const driver_test::StandIn::Change &change) {
        for (const Task &task : running_) {
            const auto process = kernel.processes.find(task.birth.pid);
            if (process == kernel.processes.end() ||
                !process->second.clients.contains(change.client))
                continue;
            first = task.place == 0 ? change.client : 0;
            second = task.place == 1 ? change.client : 0;
            come_of(change);
        }
    }

    void note(const driver_test::StandIn::Change &change) const {
        for (const auto &[pid, process] : kernel.processes) {
            if (!process.clients.contains(change.client))
                continue;
            const bool timeslice = change.command == driver_test::rm::SetTimeslice::command;
            const std::string line = std::to_string(pid) +
                                     (timeslice ? " timeslice " : " channels ") +
                                     std::to_string(change.value) + "\n";
            // A keeper has closed what was open before.
            const int file = ::open(changes_.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
            static_cast<void>(!::write(file, line.data(), line.size()));
            ::close(file);
        }
    }

    const std::filesystem::path tasks_, changes_;
    qos::Ns began_;
    std::vector<Task> running_;
};

} // namespace

int main(int argc, char **argv) {
    const char *const folder = std::getenv("NVQOS_STAND_IN");
    if (!folder) {
        std::fputs("nvqos_stand_in: NVQOS_STAND_IN names no folder\n", stderr);
        return 1;
    }
    nvdebug::base::survive_broken_pipes();
    // It is never destroyed: that takes a test that runs.
    auto *const machine = new Machine(folder);
    const int status = machine->run({argv + 1, argv + argc});
    std::fflush(nullptr);
    ::_exit(status);
}
