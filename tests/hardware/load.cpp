// SPDX-License-Identifier: MIT OR GPL-2.0
// Kernels of a fixed amount of work and their times, for measurements of partitions and timeslices.
//
//   load compute|memory SECONDS
//       runs one kernel after another, and waits for each
//   load queue SECONDS
//       runs kernels of 200 us, of which some are always queued
//   load counted SECONDS
//       does the same, and prints a line each 50 ms: CLOCK_MONOTONIC in ns, ended kernels
//   load graph SECONDS
//       runs CUDA graphs of 250 such kernels, 50 ms each, of which one is always queued
//   load bursts SECONDS
//       runs such kernels and idles in turns, for random times up to 100 ms
//   load tiny SECONDS
//       runs kernels of a few us and waits for each, so that the GPU switches after each
//   load copies SECONDS
//       copies 64 MiB from the host again and again, with some copies always queued
//   load small SECONDS
//       runs a kernel of 1 ms each 10 ms
//   load launch COUNT
//       measures how long queuing an empty kernel takes
//   load where
//       runs kernels for all SMs, and prints how many SMs they got
//   load follow SECONDS
//       repeats that, as launches and as a CUDA graph, and prints each change
//   load together BLOCKS CLUSTER
//       makes a cooperative launch of BLOCKS, and a launch in clusters of CLUSTER blocks
//   load start
//       starts CUDA, runs one kernel, and ends
//   load green SMS compute|memory compute|memory SECONDS
//       runs two green contexts: the first has SMS, and the second has the other SMs
//
// Prints one line of JSON; green prints the figures of the first context. Times are in
// microseconds. Needs only libcuda.so.1. Each kernel ends by itself; the program ends by an alarm.
#include "cuda.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <random>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t memory_bytes = std::size_t{1} << 30;
constexpr unsigned compute_turns = 20'000, compute_blocks = 4224, threads = 256;

// In where, each block notes its SM and stays there for 20 us, so that other blocks go elsewhere;
// the wait is bounded. compute has four chains of multiply-adds. memory reads all of the memory
// once, 16 bytes at a time.
const char *const ptx = R"(
.version 6.0
.target sm_60
.address_size 64
.visible .entry where(.param .u64 data, .param .u32 turns)
{
    .reg .u64 %a, %b, %t<3>;
    .reg .u32 %n<3>;
    .reg .pred %p, %q;
    ld.param.u64 %a, [data];
    ld.param.u32 %n2, [turns];
    mov.u32 %n0, %smid;
    mul.wide.u32 %b, %n0, 4;
    add.u64 %a, %a, %b;
    mov.u32 %n1, 1;
    st.global.u32 [%a], %n1;
    mov.u64 %t0, %globaltimer;
again:
    mov.u64 %t1, %globaltimer;
    sub.u64 %t1, %t1, %t0;
    sub.u32 %n2, %n2, 1;
    setp.lt.u64 %p, %t1, 20000;
    setp.ne.u32 %q, %n2, 0;
    and.pred %p, %p, %q;
    @%p bra again;
    ret;
}
.visible .entry compute(.param .u64 data, .param .u32 turns)
{
    .reg .u64 %a;
    .reg .u32 %n, %t;
    .reg .f32 %f<5>;
    .reg .pred %p;
    ld.param.u64 %a, [data];
    ld.param.u32 %n, [turns];
    mov.u32 %t, %tid.x;
    cvt.rn.f32.u32 %f0, %t;
    mov.f32 %f1, %f0;
    mov.f32 %f2, %f0;
    mov.f32 %f3, %f0;
    mov.f32 %f4, 0f3F7FFFFE;
again:
    fma.rn.f32 %f0, %f0, %f4, %f4;
    fma.rn.f32 %f1, %f1, %f4, %f4;
    fma.rn.f32 %f2, %f2, %f4, %f4;
    fma.rn.f32 %f3, %f3, %f4, %f4;
    sub.u32 %n, %n, 1;
    setp.ne.u32 %p, %n, 0;
    @%p bra again;
    add.f32 %f0, %f0, %f1;
    add.f32 %f2, %f2, %f3;
    add.f32 %f0, %f0, %f2;
    setp.eq.f32 %p, %f0, 0f00000000;
    @!%p bra done;
    st.global.f32 [%a], %f0;
done:
    ret;
}
.visible .entry memory(.param .u64 data, .param .u64 bytes)
{
    .reg .u64 %a, %end, %step;
    .reg .u32 %n<4>, %v<5>;
    .reg .pred %p;
    ld.param.u64 %a, [data];
    ld.param.u64 %end, [bytes];
    add.u64 %end, %end, %a;
    mov.u32 %n0, %ctaid.x;
    mov.u32 %n1, %ntid.x;
    mov.u32 %n2, %tid.x;
    mad.lo.u32 %n0, %n0, %n1, %n2;
    mul.wide.u32 %step, %n0, 16;
    add.u64 %a, %a, %step;
    mov.u32 %n3, %nctaid.x;
    mul.lo.u32 %n3, %n3, %n1;
    mul.wide.u32 %step, %n3, 16;
    mov.u32 %v4, 0;
again:
    setp.ge.u64 %p, %a, %end;
    @%p bra done;
    ld.global.v4.u32 {%v0, %v1, %v2, %v3}, [%a];
    xor.b32 %v0, %v0, %v1;
    xor.b32 %v2, %v2, %v3;
    xor.b32 %v0, %v0, %v2;
    xor.b32 %v4, %v4, %v0;
    add.u64 %a, %a, %step;
    bra again;
done:
    setp.ne.u32 %p, %v4, 0;
    @!%p bra out;
    ld.param.u64 %a, [data];
    st.global.u32 [%a], %v4;
out:
    ret;
}
)";

/// Kernels and memory in the current context.
class Load {
  public:
    Load() {
        call("cuModuleLoadData", &module_, static_cast<const void *>(ptx));
        call("cuModuleGetFunction", &compute_, module_, "compute");
        call("cuModuleGetFunction", &memory_, module_, "memory");
        call("cuModuleGetFunction", &where_, module_, "where");
        call("cuMemAlloc_v2", &data_, memory_bytes);
        clear(memory_bytes);
    }

    void queue(const std::string &kind, Handle stream, unsigned blocks = compute_blocks,
               unsigned turns = compute_turns) {
        unsigned times = turns;
        std::size_t bytes = memory_bytes;
        const bool is_memory = kind == "memory";
        std::array<void *, 2> arguments{&data_, is_memory ? static_cast<void *>(&bytes) : &times};
        call("cuLaunchKernel", is_memory ? memory_ : compute_, blocks, 1U, 1U, threads, 1U, 1U, 0U,
             stream, arguments.data(), static_cast<void **>(nullptr));
    }

    /// Runs kernels until @p seconds are over or @p enough is true. Returns how long each took.
    std::vector<double> run(const std::string &kind, Handle stream, double seconds,
                            const std::atomic<bool> &enough) {
        std::vector<double> took;
        const auto end = Clock::now() + std::chrono::duration<double>(seconds);
        for (auto begin = Clock::now(); begin < end && !enough;) {
            queue(kind, stream);
            call("cuStreamSynchronize", stream);
            const auto now = Clock::now();
            took.push_back(std::chrono::duration<double, std::micro>(now - begin).count());
            begin = now;
        }
        return took;
    }

    /// Returns how many SMs kernels got since the last call. MPS may give SMs other numbers.
    int sms() {
        std::array<std::uint32_t, 1024> seen{};
        call("cuMemcpyDtoH_v2", static_cast<void *>(seen.data()), data_, sizeof(seen));
        clear(sizeof(seen));
        return static_cast<int>(std::count(seen.begin(), seen.end(), 1U));
    }

    void queue_where(Handle stream, unsigned blocks) {
        call("cuLaunchKernel", where_, blocks, 1U, 1U, 1024U, 1U, 1U, 0U, stream,
             where_arguments_.data(), static_cast<void **>(nullptr));
    }

    /// Launches a kernel with an attribute (CUlaunchAttribute), and returns CUDA's answer.
    int queue_with(Handle stream, unsigned blocks, std::uint32_t id,
                   std::array<std::uint32_t, 3> value) {
        struct {
            std::uint32_t id, pad, words[16];
        } attribute{id, 0, {value[0], value[1], value[2]}};
        struct {
            unsigned grid[3], block[3], shared;
            Handle stream;
            void *attributes;
            unsigned count;
        } config{{blocks, 1, 1}, {1024, 1, 1}, 0, stream, &attribute, 1};
        using Launch = int (*)(void *, Handle, void **, void **);
        return reinterpret_cast<Launch>(dlsym(library(), "cuLaunchKernelEx"))(
            &config, where_, where_arguments_.data(), nullptr);
    }

    /// Returns an executable graph of one such kernel.
    Handle graph(unsigned blocks) {
        struct {
            Handle function;
            unsigned grid[3], block[3], shared;
            void **arguments, **extra;
            Handle kernel, context;
        } node{where_,  {blocks, 1, 1}, {1024, 1, 1}, 0, where_arguments_.data(),
               nullptr, nullptr,        nullptr};
        Handle graph = nullptr, added = nullptr, exec = nullptr;
        call("cuGraphCreate", &graph, 0U);
        call("cuGraphAddKernelNode_v2", &added, graph, static_cast<Handle *>(nullptr),
             std::size_t{0}, &node);
        call("cuGraphInstantiateWithFlags", &exec, graph, 0ULL);
        call("cuGraphDestroy", graph);
        return exec;
    }

  private:
    /// Clears memory in the default stream, and waits, as our streams do not wait for that one.
    void clear(std::size_t bytes) {
        call("cuMemsetD8_v2", data_, static_cast<unsigned char>(0), bytes);
        call("cuCtxSynchronize");
    }

    Handle module_ = nullptr, compute_ = nullptr, memory_ = nullptr, where_ = nullptr;
    Address data_ = 0;
    unsigned patience_ = 1'000'000;
    std::array<void *, 2> where_arguments_{&data_, &patience_};
};

void print(std::vector<double> took, int sms) {
    if (took.empty())
        stop("no kernel ended in this time", 0);
    std::sort(took.begin(), took.end());
    const auto at = [&](double part) {
        return took[static_cast<std::size_t>(part * static_cast<double>(took.size() - 1))];
    };
    double sum = 0;
    for (const double us : took)
        sum += us;
    std::printf("{\"kernels\": %zu, \"mean\": %.2f, \"min\": %.2f, \"median\": %.2f, \"p99\": "
                "%.2f, \"max\": %.2f, \"sms\": %d}\n",
                took.size(), sum / static_cast<double>(took.size()), at(0), at(0.5), at(0.99),
                at(1), sms);
}

/// Records an event in a stream, and returns the previous event, which passes half a queue earlier.
Handle event(Handle stream) {
    static std::array<Handle, 2> events{};
    static std::size_t now = 0;
    for (Handle &each : events)
        if (!each)
            call("cuEventCreate", &each, 0U);
    call("cuEventRecord", events[now], stream);
    now ^= 1;
    return events[now];
}

/// CUdevResource of cuda.h. This program uses its number of SMs.
struct Resource {
    std::uint32_t type, pad[23], sms, more[11];
};
static_assert(sizeof(Resource) == 144);

/// Makes a stream of a green context of @p resource, and makes that context current.
Handle green_stream(Resource &resource) {
    constexpr unsigned default_stream = 1, non_blocking = 1;
    Handle description = nullptr, green = nullptr, context = nullptr, stream = nullptr;
    call("cuDevResourceGenerateDesc", &description, &resource, 1U);
    call("cuGreenCtxCreate", &green, description, 0, default_stream);
    call("cuCtxFromGreenCtx", &context, green);
    call("cuCtxSetCurrent", context);
    call("cuGreenCtxStreamCreate", &stream, green, non_blocking, 0);
    return stream;
}

int green(char **words) {
    constexpr int of_sms = 1;
    Resource all{}, first{}, rest{};
    unsigned groups = 1;
    call("cuDeviceGetDevResource", 0, &all, of_sms);
    call("cuDevSmResourceSplitByCount", &first, &groups, static_cast<const Resource *>(&all), &rest,
         0U, static_cast<unsigned>(std::atoi(words[0])));
    std::atomic<bool> enough = false, ready = false;
    std::thread other([&] {
        Handle const stream = green_stream(rest);
        Load load;
        ready = true;
        load.run(words[2], stream, 60, enough);
    });
    Handle const stream = green_stream(first);
    Load load;
    while (!ready)
        std::this_thread::yield();
    const std::atomic<bool> never = false;
    const auto took = load.run(words[1], stream, std::atof(words[3]), never);
    enough = true;
    other.join();
    print(took, static_cast<int>(first.sms));
    return 0;
}

} // namespace

void stop(const char *what, int error) {
    std::printf("{\"error\": \"%s\", \"number\": %d}\n", what, error);
    std::exit(1);
}

int main(int argc, char **argv) {
    alarm(90);
    const std::string what = argc > 1 ? argv[1] : "";
    Handle context = nullptr, stream = nullptr;
    int sms = 0;
    call("cuInit", 0U);
    call("cuDeviceGetAttribute", &sms, sm_count, 0);
    call("cuDevicePrimaryCtxRetain", &context, 0);
    call("cuCtxSetCurrent", context);
    if (what == "green" && argc == 6)
        return green(argv + 2);
    call("cuStreamCreate", &stream, 1U);
    Load load;
    if ((what == "compute" || what == "memory") && argc == 3) {
        const std::atomic<bool> never = false;
        load.run(what, stream, 0.1, never);
        std::fprintf(stderr, "ready\n");
        print(load.run(what, stream, std::atof(argv[2]), never), sms);
        return 0;
    }
    const auto after = [](double seconds) {
        return Clock::now() +
               std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
    };
    // One wave of blocks on any GPU, so that time depends on turns alone: compute_turns take about
    // 0.75 ms on an H100.
    const unsigned wave = 8 * static_cast<unsigned>(sms);
    if ((what == "queue" || what == "counted") && argc == 3) {
        constexpr int queued = 16;
        std::setvbuf(stdout, nullptr, _IOLBF, 0); // the program may be killed after any line
        std::fprintf(stderr, "ready\n");
        long ended = -queued; // the first wait is for nothing
        auto told = Clock::now();
        for (const auto end = after(std::atof(argv[2])); Clock::now() < end;) {
            for (int n = 0; n < queued; n++)
                load.queue("compute", stream, wave, compute_turns / 4);
            // This waits for the previous half while the GPU runs the half that was just queued.
            call("cuEventSynchronize", event(stream));
            ended += queued;
            if (const auto now = Clock::now();
                what == "counted" && now - told > std::chrono::milliseconds(50)) {
                std::printf("%lld %ld\n", static_cast<long long>(now.time_since_epoch().count()),
                            ended);
                told = now;
            }
        }
        call("cuStreamSynchronize", stream);
        return 0;
    }
    if (what == "graph" && argc == 3) {
        constexpr int kernels = 250;
        constexpr unsigned thread_local_mode = 1; // CUstreamCaptureMode
        Handle graph = nullptr, exec = nullptr;
        call("cuStreamBeginCapture_v2", stream, thread_local_mode);
        for (int n = 0; n < kernels; n++)
            load.queue("compute", stream, wave, compute_turns / 4);
        call("cuStreamEndCapture", stream, &graph);
        call("cuGraphInstantiateWithFlags", &exec, graph, 0ULL);
        std::fprintf(stderr, "ready\n");
        for (const auto end = after(std::atof(argv[2])); Clock::now() < end;) {
            call("cuGraphLaunch", exec, stream);
            call("cuEventSynchronize", event(stream));
        }
        call("cuStreamSynchronize", stream);
        return 0;
    }
    if (what == "bursts" && argc == 3) {
        std::minstd_rand random(1);
        std::uniform_real_distribution<double> length(0, 0.1);
        std::fprintf(stderr, "ready\n");
        for (const auto end = after(std::atof(argv[2])); Clock::now() < end;) {
            for (const auto over = after(length(random)); Clock::now() < over;) {
                load.queue("compute", stream, wave, compute_turns / 4);
                call("cuEventSynchronize", event(stream));
            }
            call("cuStreamSynchronize", stream);
            std::this_thread::sleep_for(std::chrono::duration<double>(length(random)));
        }
        return 0;
    }
    if (what == "tiny" && argc == 3) {
        std::fprintf(stderr, "ready\n");
        for (const auto end = after(std::atof(argv[2])); Clock::now() < end;) {
            load.queue("compute", stream, 1, 1);
            call("cuStreamSynchronize", stream);
        }
        return 0;
    }
    if (what == "copies" && argc == 3) {
        constexpr std::size_t bytes = std::size_t{64} << 20;
        void *host = nullptr;
        Address there = 0;
        call("cuMemAllocHost_v2", &host, bytes);
        call("cuMemAlloc_v2", &there, bytes);
        std::fprintf(stderr, "ready\n");
        for (const auto end = after(std::atof(argv[2])); Clock::now() < end;) {
            for (int n = 0; n < 4; n++)
                call("cuMemcpyHtoDAsync_v2", there, static_cast<const void *>(host), bytes, stream);
            call("cuEventSynchronize", event(stream));
        }
        call("cuStreamSynchronize", stream);
        return 0;
    }
    if (what == "small" && argc == 3) {
        std::fprintf(stderr, "ready\n");
        std::vector<double> took;
        const auto end = after(std::atof(argv[2]));
        for (auto due = Clock::now(); due < end; due += std::chrono::milliseconds(10)) {
            std::this_thread::sleep_until(due);
            const auto begin = Clock::now();
            load.queue("compute", stream, wave, compute_turns * 4 / 3);
            call("cuStreamSynchronize", stream);
            took.push_back(std::chrono::duration<double, std::micro>(Clock::now() - begin).count());
        }
        print(took, sms);
        return 0;
    }
    if (what == "launch" && argc == 3) {
        constexpr int at_once = 100; // few enough that no launch waits for room in the queue
        std::vector<double> took;
        for (int n = 0; n < std::atoi(argv[2]); n++) {
            const auto begin = Clock::now();
            load.queue("compute", stream, 1, 1);
            took.push_back(std::chrono::duration<double, std::micro>(Clock::now() - begin).count());
            if (n % at_once == at_once - 1)
                call("cuStreamSynchronize", stream);
        }
        print(took, sms);
        return 0;
    }
    const unsigned everywhere = 8 * static_cast<unsigned>(sms); // of 1,024 threads: four waves
    if (what == "where" && argc == 2) {
        load.queue_where(stream, everywhere);
        call("cuStreamSynchronize", stream);
        std::printf("{\"sms\": %d, \"attribute\": %d}\n", load.sms(), sms);
        return 0;
    }
    if (what == "follow" && argc == 3) {
        Handle const graph = load.graph(everywhere);
        std::array<int, 2> last{};
        std::setvbuf(stdout, nullptr, _IOLBF, 0);
        for (const auto end = after(std::atof(argv[2])); Clock::now() < end;) {
            load.queue_where(stream, everywhere);
            call("cuStreamSynchronize", stream);
            const int launched = load.sms();
            call("cuGraphLaunch", graph, stream);
            call("cuStreamSynchronize", stream);
            const std::array<int, 2> now{launched, load.sms()};
            if (now != last)
                std::printf("{\"launch\": %d, \"graph\": %d}\n", now[0], now[1]);
            last = now;
        }
        return 0;
    }
    if (what == "together" && argc == 4) {
        constexpr std::uint32_t cooperative = 2, cluster = 4; // CUlaunchAttributeID
        const auto blocks = static_cast<unsigned>(std::atoi(argv[2])),
                   side = static_cast<unsigned>(std::atoi(argv[3]));
        const int first = load.queue_with(stream, blocks, cooperative, {1, 0, 0});
        call("cuStreamSynchronize", stream);
        const int on = load.sms();
        const int second = load.queue_with(stream, 64 * side, cluster, {side, 1, 1});
        call("cuStreamSynchronize", stream);
        std::printf("{\"cooperative\": %d, \"sms\": %d, \"cluster\": %d, \"cluster_sms\": %d}\n",
                    first, on, second, load.sms());
        return 0;
    }
    if (what == "start" && argc == 2) {
        load.queue("compute", stream, 1, 1);
        call("cuStreamSynchronize", stream);
        return 0;
    }
    std::fprintf(
        stderr,
        "load: compute|memory|queue|graph|bursts|small|follow SECONDS, launch COUNT, where, "
        "together BLOCKS CLUSTER, start, green SMS KIND KIND SECONDS\n");
    return 1;
}
