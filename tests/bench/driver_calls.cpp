// SPDX-License-Identifier: MIT OR GPL-2.0
// Measures the calls that reading the first GPU through NVIDIA's driver takes, and the rest of the
// time. It needs root.
#include "timed.hpp"

#include "lib/nvdebug/driver_tree.hpp"
#include "nvdebug/gpu.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <sys/resource.h>
#include <thread>

using namespace std::chrono_literals;
using bench::Timed;
using Clock = std::chrono::steady_clock;

namespace {

[[noreturn]] void stop(const nvdebug::Error &error) {
    std::fprintf(stderr, "driver_calls: %s\n", error.sentence.c_str());
    std::exit(1);
}

template <typename Value>
Value value(nvdebug::Result<Value> result) {
    if (!result)
        stop(result.error());
    return std::move(*result);
}

nvdebug::Gpu opened(const std::shared_ptr<Timed> &kernel) {
    const nvdebug::Tree tree(value(nvdebug::driver::open_tree(kernel, {})));
    auto gpus = value(nvdebug::gpus(tree));
    if (gpus.empty())
        stop({nvdebug::ErrorCode::not_found, 0, "", "NVIDIA's driver has no GPU"});
    return std::move(gpus.front());
}

std::shared_ptr<Timed> timed() {
    return std::make_shared<Timed>(nvdebug::driver::running_kernel(), CLOCK_MONOTONIC);
}

double ms(Clock::duration time) {
    return std::chrono::duration<double, std::milli>(time).count();
}

Clock::duration processor_time() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto of = [](const timeval &time) {
        return std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec);
    };
    return of(usage.ru_utime) + of(usage.ru_stime);
}

/// Opens the GPU and reads, as a run of the tool does, and prints the fastest of ten runs.
void run(const char *before, const std::function<std::string(const nvdebug::Gpu &)> &read) {
    constexpr int times = 10;
    double all = 0, calls = 0;
    std::uint64_t count = 0;
    std::string what;
    for (int i = 0; i < times; i++) {
        const auto kernel = timed();
        const auto begin = Clock::now();
        what = read(opened(kernel));
        const double took = ms(Clock::now() - begin);
        if (i && took >= all)
            continue;
        all = took;
        calls = ms(std::chrono::nanoseconds(kernel->ns));
        count = kernel->calls;
    }
    std::printf(R"(%s{"what": "%s", "per": "run", "calls": %lu, )"
                R"("calls_ms": %.2f, "all_ms": %.2f, "ratio": %.2f})",
                before, what.c_str(), count, calls, all, all / calls);
}

std::string list(const nvdebug::Gpu &gpu) {
    const nvdebug::Runlist read = value(gpu.runlist(0));
    return "runlist 0, " + std::to_string(nvdebug::channels_of(read).size()) + " channels";
}

/// Reads the owners of all runlists' channels.
std::string owners(const nvdebug::Gpu &gpu) {
    return "owners, " + std::to_string(value(gpu.owners()).channels.size()) + " channels";
}

/// Reads engines as `watch -s 100` does, and prints the processor time.
void samples() {
    constexpr int count = 100;
    const auto kernel = timed();
    const nvdebug::Gpu gpu = opened(kernel);
    const auto read = [&] { value(gpu.engine_states()); };
    read();
    kernel->calls = kernel->ns = 0;
    const auto begin = processor_time();
    auto next = Clock::now();
    for (int i = 0; i < count; i++, next += 100ms) {
        std::this_thread::sleep_until(next);
        read();
    }
    const double all = ms(processor_time() - begin) / count;
    const double calls = ms(std::chrono::nanoseconds(kernel->ns)) / count;
    std::printf(R"(,
 {"what": "engines, 10 a second", "per": "sample", "calls": %u, )"
                R"("calls_ms": %.2f, "all_ms": %.2f, "ratio": %.2f})",
                static_cast<unsigned>(kernel->calls) / count, calls, all, all / calls);
}

} // namespace

int main() {
    run("[", list);
    run(",\n ", owners);
    samples();
    std::puts("]");
}
