// SPDX-License-Identifier: MIT OR GPL-2.0
// Six kernels that wait for different parts of a GPU, for measurements of goals.
//
//   kernels KIND SECONDS
//
// KIND is compute (multiply-adds), latency (one warp on each SM, in which each load needs the
// previous one), divergent (the lanes of a warp take different ways), bandwidth (reads 1 GiB), short
// (some microseconds for each kernel) or barrier (the threads of a block wait for each other again
// and again). Some kernels are always queued. Prints "ready" on stderr once the first kernel has
// ended, and a line each 50 ms: CLOCK_MONOTONIC in ns, and how many kernels had ended. Needs only
// libcuda.so.1. Each kernel ends by itself; the program ends by an alarm.
#include "cuda.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <unistd.h>

namespace {

using Clock = std::chrono::steady_clock;

constexpr unsigned long long memory_bytes = 1ULL << 30;

// All kernels take the memory and a number of turns. The memory is full of zeros, and stays so.
const char *const ptx = R"(
.version 6.0
.target sm_60
.address_size 64
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
// The next place is the previous place, multiplied, plus the value read there. The value is 0, which only the load shows.
.visible .entry latency(.param .u64 data, .param .u32 turns)
{
    .reg .u64 %a, %b, %t;
    .reg .u32 %n, %x, %v;
    .reg .pred %p;
    ld.param.u64 %a, [data];
    ld.param.u32 %n, [turns];
    mov.u32 %x, %ctaid.x;
    mov.u32 %v, %tid.x;
    mad.lo.u32 %x, %x, 1664525, %v;
again:
    mad.lo.u32 %x, %x, 1664525, 1013904223;
    shr.u32 %v, %x, 4;
    mul.wide.u32 %b, %v, 4;
    add.u64 %b, %a, %b;
    ld.global.cg.u32 %v, [%b];
    add.u32 %x, %x, %v;
    sub.u32 %n, %n, 1;
    setp.ne.u32 %p, %n, 0;
    @%p bra again;
    setp.ne.u32 %p, %v, 0;
    @!%p bra done;
    st.global.u32 [%a], %x;
done:
    ret;
}
// Each of 32 lanes takes another number of turns, and every second lane takes another way.
.visible .entry divergent(.param .u64 data, .param .u32 turns)
{
    .reg .u64 %a;
    .reg .u32 %n, %t, %l, %x;
    .reg .pred %p, %q;
    ld.param.u64 %a, [data];
    ld.param.u32 %n, [turns];
    mov.u32 %t, %tid.x;
    and.b32 %l, %t, 31;
    add.u32 %l, %l, 1;
    mul.lo.u32 %n, %n, %l;
    and.b32 %l, %t, 1;
    setp.ne.u32 %q, %l, 0;
    mov.u32 %x, %t;
again:
    @%q bra odd;
    mad.lo.u32 %x, %x, 1664525, 1013904223;
    xor.b32 %x, %x, %n;
    bra next;
odd:
    mad.lo.u32 %x, %x, 22695477, 1;
    add.u32 %x, %x, %n;
next:
    sub.u32 %n, %n, 1;
    setp.ne.u32 %p, %n, 0;
    @%p bra again;
    setp.eq.u32 %p, %x, 4294967295;
    @!%p bra done;
    st.global.u32 [%a], 0;
done:
    ret;
}
.visible .entry bandwidth(.param .u64 data, .param .u32 turns)
{
    .reg .u64 %a, %end, %step;
    .reg .u32 %n<4>, %v<5>;
    .reg .pred %p;
    ld.param.u64 %a, [data];
    ld.param.u32 %n0, [turns];
    mul.wide.u32 %end, %n0, 1048576;
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
    st.global.u32 [%a], 0;
out:
    ret;
}
.visible .entry barrier(.param .u64 data, .param .u32 turns)
{
    .shared .align 4 .b8 place[4096];
    .reg .u64 %a;
    .reg .u32 %n, %t, %x, %own, %next, %base;
    .reg .pred %p;
    ld.param.u64 %a, [data];
    ld.param.u32 %n, [turns];
    mov.u32 %t, %tid.x;
    mov.u32 %x, %t;
    mov.u32 %base, place;
    shl.b32 %own, %t, 2;
    add.u32 %next, %own, 4;
    and.b32 %next, %next, 1023;
    add.u32 %own, %own, %base;
    add.u32 %next, %next, %base;
again:
    st.shared.u32 [%own], %x;
    bar.sync 0;
    ld.shared.u32 %x, [%next];
    add.u32 %x, %x, 1;
    bar.sync 0;
    sub.u32 %n, %n, 1;
    setp.ne.u32 %p, %n, 0;
    @%p bra again;
    setp.eq.u32 %p, %x, 4294967295;
    @!%p bra done;
    st.global.u32 [%a], 0;
done:
    ret;
}
)";

/// The launch of a kind. Alone on an H100, a kernel takes 0.1 to 0.4 ms, and short some microseconds.
struct Kind {
    const char *name, *function;
    unsigned blocks_per_sm, threads, turns, queued;
};
constexpr std::array<Kind, 6> kinds = {{{"compute", "compute", 8, 256, 5000, 16},
                                        {"latency", "latency", 1, 32, 300, 16},
                                        {"divergent", "divergent", 8, 256, 100, 16},
                                        {"bandwidth", "bandwidth", 8, 256, 1024, 16},
                                        {"short", "compute", 1, 256, 50, 256},
                                        {"barrier", "barrier", 8, 256, 2000, 16}}};

int work(const Kind &kind, double seconds) {
    Handle context = nullptr, stream = nullptr, module = nullptr, function = nullptr;
    std::array<Handle, 2> events{};
    Address data = 0;
    int sms = 0;
    call("cuInit", 0U);
    call("cuDeviceGetAttribute", &sms, sm_count, 0);
    call("cuDevicePrimaryCtxRetain", &context, 0);
    call("cuCtxSetCurrent", context);
    call("cuStreamCreate", &stream, 1U);
    for (Handle &event : events)
        call("cuEventCreate", &event, 0U);
    call("cuModuleLoadData", &module, static_cast<const void *>(ptx));
    call("cuModuleGetFunction", &function, module, kind.function);
    call("cuMemAlloc_v2", &data, static_cast<std::size_t>(memory_bytes));
    call("cuMemsetD8_v2", data, static_cast<unsigned char>(0),
         static_cast<std::size_t>(memory_bytes));
    call("cuCtxSynchronize");
    unsigned turns = kind.turns;
    std::array<void *, 2> arguments{&data, &turns};
    const auto queue = [&] {
        call("cuLaunchKernel", function, kind.blocks_per_sm * static_cast<unsigned>(sms), 1U, 1U,
             kind.threads, 1U, 1U, 0U, stream, arguments.data(), static_cast<void **>(nullptr));
    };
    queue();
    call("cuStreamSynchronize", stream);
    std::fprintf(stderr, "ready\n");
    long ended = -static_cast<long>(kind.queued); // the first wait is for nothing
    auto printed = Clock::now();
    const auto end = printed + std::chrono::duration_cast<Clock::duration>(
                                   std::chrono::duration<double>(seconds));
    for (std::size_t round = 0; Clock::now() < end; round++) {
        for (unsigned n = 0; n < kind.queued; n++)
            queue();
        call("cuEventRecord", events[round % 2], stream);
        // This waits for the previous half while the GPU runs the half that was just queued.
        if (round > 0)
            call("cuEventSynchronize", events[(round + 1) % 2]);
        ended += kind.queued;
        if (const auto now = Clock::now(); now - printed > std::chrono::milliseconds(50)) {
            std::printf("%lld %ld\n", static_cast<long long>(now.time_since_epoch().count()),
                        std::max(ended, 0L));
            printed = now;
        }
    }
    call("cuStreamSynchronize", stream);
    return 0;
}

} // namespace

void stop(const char *what, int error) {
    std::fprintf(stderr, "kernels: %s: error %d\n", what, error);
    std::exit(1);
}

int main(int argc, char **argv) {
    alarm(120);
    std::setvbuf(stdout, nullptr, _IOLBF, 0); // the program may be killed after any line
    const std::string name = argc == 3 ? argv[1] : "";
    const auto *const kind =
        std::find_if(kinds.begin(), kinds.end(), [&](const Kind &one) { return name == one.name; });
    if (kind == kinds.end()) {
        std::fprintf(stderr,
                     "kernels: compute|latency|divergent|bandwidth|short|barrier SECONDS\n");
        return 1;
    }
    return work(*kind, std::atof(argv[2]));
}
