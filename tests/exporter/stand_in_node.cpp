// SPDX-License-Identifier: MIT OR GPL-2.0
// stand_in_node PORT FOLDER: nvdebug-exporter on a node with one GPU, which is the model's behind
// the stand-in for NVIDIA's driver. The folder has links as kubelet makes them for containers. Three tasks take turns, a job's and those of two pods; nvtaskset is
// not there, so that the partition of the first is made up, and so are its other GPUs.
#include "tools/exporter/families.hpp"
#include "tools/exporter/front.hpp"
#include "tools/exporter/meter.hpp"

#include "bench.hpp"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <set>
#include <string>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace {

namespace exporter = nvdebug::exporter;
namespace rm = nvdebug::driver::rm;
using Clock = std::chrono::steady_clock;

constexpr std::uint32_t job_pid = 4711, pod_pid = 4712, other_pod_pid = 4713;

/// Three tasks use all of GR0. Their turns take 8 ms, 2 ms and 1 ms, with a switch after each.
class Load {
  public:
    explicit Load(driver_test::StandIn &kernel) : kernel_(kernel) {
        kernel_.clock = [this] { return now_; };
    }

    /// Adds the switches since the last call, but at most as many records as the driver keeps.
    void go_on() {
        constexpr std::uint64_t ms = 1'000'000, switching = 84'000, round = 11 * ms + 3 * switching;
        constexpr std::size_t most = 60'000;
        now_ = static_cast<std::uint64_t>(std::chrono::nanoseconds(Clock::now() - begin_).count());
        for (; next_ + round <= now_ && kernel_.switches.size() < most; next_ += round) {
            add(next_, true, job_pid);
            add(next_ + 8 * ms, false, job_pid);
            add(next_ + 8 * ms + switching, true, pod_pid);
            add(next_ + 10 * ms + switching, false, pod_pid);
            add(next_ + 10 * ms + 2 * switching, true, other_pod_pid);
            add(next_ + 11 * ms + 2 * switching, false, other_pod_pid);
        }
    }

  private:
    void add(std::uint64_t ns, bool starts, std::uint32_t pid) {
        rm::SwitchRecord record{};
        record.tag = starts ? rm::SwitchRecord::starts : rm::SwitchRecord::ends;
        record.ns = ns;
        record.pid = pid;
        record.context = pid;
        kernel_.switches.push_back(record);
    }

    driver_test::StandIn &kernel_;
    const Clock::time_point begin_ = Clock::now();
    std::uint64_t now_ = 0, next_ = 1;
};

int answer(int front, const std::string &folder) {
    driver_test::Bench bench{"h200", "fig7"};
    driver_test::StandIn &kernel = *bench.kernel;
    std::map<std::uint32_t, std::vector<std::uint64_t>> instances; // by TSG
    const nvdebug::Runlist list = nvdebug::Gpu(bench.tree(), 0).runlist(0).value();
    for (const nvdebug::ListedChannel &channel : channels_of(list))
        if (channel.tsg)
            instances[channel.tsg->id].push_back(*channel.channel->instance_place.address);
    kernel.add_process(job_pid, instances.begin()->second);
    kernel.processes[job_pid].command = "train";
    kernel.processes[job_pid].cgroup = "0::/system.slice/slurmstepd.scope/job_17/step_0/user\n";
    kernel.add_process(pod_pid, instances.rbegin()->second);
    kernel.processes[pod_pid].command = "serve";
    kernel.processes[pod_pid].cgroup =
        "0::/kubepods/pod01234567-89ab-cdef-0123-456789abcdef/" + std::string(64, 'c') + "\n";
    kernel.add_process(other_pod_pid, {});
    kernel.processes[other_pod_pid].command = "batch";
    kernel.processes[other_pod_pid].cgroup =
        "0::/kubepods/pod89abcdef-89ab-cdef-0123-456789abcdef/" + std::string(64, 'd') + "\n";
    Load load(kernel);
    exporter::Meter meter(nvdebug::Gpu(bench.tree(), 0), std::chrono::seconds(1),
                          {.tasks = 8, .shortest_look = {}, .own_look = {}});
    nvdebug::base::PodNames names({folder});
    while (exporter::await_question(front)) {
        load.go_on();
        meter.step();
        exporter::Facts facts = meter.facts();
        std::set<std::string> ids;
        for (const exporter::TaskFacts &task : facts.tasks)
            if (task.id.container)
                ids.insert(*task.id.container);
        names.look(ids);
        for (exporter::TaskFacts &task : facts.tasks) {
            task.pod_name = names.find(task.id);
            if (task.pid == job_pid) {
                task.tpcs = 8;
                task.kept = true;
                task.together = 0.9;
            }
        }
        if (!exporter::answer_question(front, exporter::metrics_text({facts}, "stand-in")))
            break;
    }
    return 0;
}

} // namespace

int main(int argc, char **argv) {
    const auto address = exporter::parse_address(argc == 3 ? argv[1] : "");
    int ends[2];
    const int listener = address ? exporter::listen_at({"127.0.0.1", address->port}) : -1;
    if (listener < 0 || ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)) {
        std::fputs("stand_in_node: give it a PORT that is free, and a FOLDER\n", stderr);
        return 1;
    }
    const pid_t parent = ::getpid(), front = ::fork();
    if (front == 0) {
        ::close(ends[0]);
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (::getppid() != parent)
            ::_exit(1);
        exporter::run_front(listener, ends[1], "stand-in");
    }
    ::close(ends[1]);
    ::close(listener);
    return front < 0 ? 1 : answer(ends[0], argv[2]);
}
