// SPDX-License-Identifier: MIT OR GPL-2.0
// Measures `nvdebugctl record` of one to eight GPUs over a stand-in for NVIDIA's driver, whose GPUs
// have as many turns a second as told:
//
//     recorder_cost GPUS TURNS SECONDS [FILE]
//
// It prints a line of JSON: the part of a core that recording took without the calls of the driver,
// and the number of these calls. The stand-in's time is not the driver's, so it is left out. Two
// recordings are made, and their difference counts, so that opening the GPUs is left out as well.
#include "timed.hpp"

#include "tests/driver/bench.hpp"

#include "nvdebug/nvdebug.hpp"

#include "cli/run.hpp"
#include "commands.hpp"

#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace {

using Opened = nvdebug::Result<nvdebug::Tree>;
namespace rm = driver_test::rm;

std::shared_ptr<nvdebug::driver::Kernel> opened_kernel;

std::uint64_t monotonic_ns() {
    return static_cast<std::uint64_t>(
        std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count());
}

/// The owners of the modelled GPU's TSGs take turns on each GPU, one after the other and without a
/// pause.
class Turns {
  public:
    Turns(const driver_test::Bench &bench, unsigned gpus, unsigned turns_per_second)
        : kernel_(*bench.kernel), length_(1'000'000'000 / turns_per_second), next_(monotonic_ns()) {
        const nvdebug::Gpu gpu(bench.tree(), 0);
        const nvdebug::Runlist list = gpu.runlist(0).value();
        kernel_.cards.clear();
        for (std::uint32_t number = 0; number < gpus; number++)
            kernel_.add_card(number, static_cast<std::uint8_t>(number + 1));
        for (const nvdebug::RunlistItem &item : list.items) {
            const auto *const tsg = std::get_if<nvdebug::Tsg>(&item);
            if (!tsg)
                continue;
            std::vector<std::uint64_t> instances;
            for (const nvdebug::Channel &channel : tsg->channels)
                instances.push_back(*channel.instance_place.address);
            pids_.push_back(first_pid + tsg->id);
            kernel_.add_process(pids_.back(), instances);
            for (std::uint32_t other = 1; other < gpus; other++)
                kernel_.processes[pids_.back()].other_gpus.insert(other);
        }
        kernel_.clock = monotonic_ns;
        kernel_.before_flush = [this] { add(); };
    }

  private:
    void add() {
        for (const std::uint64_t now = monotonic_ns(); next_ + length_ < now; next_ += length_) {
            rm::SwitchRecord begin{};
            begin.tag = rm::SwitchRecord::starts;
            begin.pid = begin.context = pids_[place_++ % pids_.size()];
            begin.ns = next_;
            rm::SwitchRecord end = begin;
            end.tag = rm::SwitchRecord::ends;
            end.ns = next_ + length_ / 2;
            for (const rm::Card &card : kernel_.cards) {
                auto &records = &card == kernel_.cards.data() ? kernel_.switches
                                                              : kernel_.switches_of[card.gpu_id];
                records.push_back(begin);
                records.push_back(end);
            }
        }
    }

    static constexpr std::uint32_t first_pid = 71;
    std::vector<std::uint32_t> pids_;
    driver_test::StandIn &kernel_;
    const std::uint64_t length_;
    std::uint64_t next_;
    std::size_t place_ = 0;
};

struct Spent {
    double seconds, calls;
};

/// Records for @p seconds. Returns the processor time without the calls, and their number.
Spent record(bench::Timed &kernel, unsigned seconds, const std::vector<std::string> &more) {
    kernel.calls = kernel.ns = 0;
    const auto processor_seconds = [] {
        rusage usage{};
        getrusage(RUSAGE_SELF, &usage);
        const auto of = [](const timeval &time) {
            return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
        };
        return of(usage.ru_utime) + of(usage.ru_stime);
    };
    const double begin = processor_seconds();
    std::vector<std::string> words = {"-g", "all",   "record",
                                      "-j", "--for", std::to_string(seconds) + "s"};
    words.insert(words.end(), more.begin(), more.end());
    if (const int status = nvdebugctl::run(nvdebugctl::all_objects(), words)) {
        std::fprintf(stderr, "recorder_cost: record ended with %d\n", status);
        std::exit(1);
    }
    return {processor_seconds() - begin - static_cast<double>(kernel.ns) * 1e-9,
            static_cast<double>(kernel.calls)};
}

unsigned number(const char *text, unsigned most) {
    unsigned value = 0;
    if (std::from_chars(text, text + std::strlen(text), value).ec != std::errc{} || value == 0 ||
        value > most) {
        std::fprintf(stderr, "recorder_cost: '%s' is no number from 1 to %u\n", text, most);
        std::exit(1);
    }
    return value;
}

} // namespace

// The linker replaces the functions that open NVIDIA's driver by these (-Wl,--wrap).
extern "C" {
Opened __wrap__ZN7nvdebug4Tree6driverERKNS_6AdviceE(const nvdebug::Advice &);
Opened __wrap__ZN7nvdebug4Tree6driverERKNS_6AdviceE(const nvdebug::Advice &) {
    return nvdebug::driver::open_tree(opened_kernel, {}).map([](auto tree) {
        return nvdebug::Tree(std::move(tree));
    });
}
Opened __wrap__ZN7nvdebug4Tree7runningERKNS_6AdviceE(const nvdebug::Advice &advice);
Opened __wrap__ZN7nvdebug4Tree7runningERKNS_6AdviceE(const nvdebug::Advice &advice) {
    return __wrap__ZN7nvdebug4Tree6driverERKNS_6AdviceE(advice);
}
}

int main(int argc, char **argv) {
    if (argc < 4 || argc > 5) {
        std::fprintf(stderr, "usage: recorder_cost GPUS TURNS SECONDS [FILE]\n");
        return 1;
    }
    const unsigned gpus = number(argv[1], 8), turns = number(argv[2], 100'000),
                   seconds = number(argv[3], 3600);
    std::vector<std::string> more;
    if (argc == 5)
        more = {"-o", argv[4]};
    const int out = ::dup(STDOUT_FILENO);
    const int none = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (out < 0 || none < 0 || ::dup2(none, STDOUT_FILENO) < 0) {
        std::perror("recorder_cost: the summary cannot be thrown away");
        return 1;
    }

    driver_test::Bench bench("h200", "three-tasks");
    const Turns made(bench, gpus, turns);
    const auto kernel = std::make_shared<bench::Timed>(bench.kernel, CLOCK_THREAD_CPUTIME_ID);
    opened_kernel = kernel;
    constexpr unsigned start = 3; // by then, all processes have been found
    const Spent first = record(*kernel, start, more), all = record(*kernel, start + seconds, more);
    ::dprintf(out,
              R"({"gpus": %u, "turns_per_second": %u, "own_percent": %.3f, )"
              R"("calls_per_second": %.0f})"
              "\n",
              gpus, turns, 100 * (all.seconds - first.seconds) / seconds,
              (all.calls - first.calls) / seconds);
}
