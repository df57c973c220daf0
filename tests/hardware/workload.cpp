// SPDX-License-Identifier: MIT OR GPL-2.0
// Runs kernels and copies in streams for some seconds, so that a GPU's lists have entries. Each
// kernel ends after its time by the GPU's clock, or after a number of turns. If the driver hangs,
// an alarm ends the program.
//
//   workload SECONDS [STREAMS [KERNEL_US [COPY_MIB]]]
//
// Prints "ready" and an address of its memory once work is queued. Needs only libcuda.so.1, which
// comes with the driver.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

// The program uses opaque pointers of cuda.h, and 0 for success.
using Handle = void *;
using Pointer = unsigned long long;

constexpr int not_ready = 600; // CUDA_ERROR_NOT_READY

const char *const ptx = R"(
.version 6.0
.target sm_50
.address_size 64
.visible .entry spin(.param .u64 ns)
{
    .reg .u64 %t<4>;
    .reg .u32 %n;
    .reg .pred %p, %q;
    ld.param.u64 %t0, [ns];
    mov.u64 %t1, %globaltimer;
    mov.u32 %n, 0;
again:
    mov.u64 %t2, %globaltimer;
    sub.u64 %t3, %t2, %t1;
    add.u32 %n, %n, 1;
    setp.lt.u64 %p, %t3, %t0;
    setp.lt.u32 %q, %n, 20000000;
    and.pred %p, %p, %q;
    @%p bra again;
    ret;
}
)";

[[noreturn]] void stop(const char *what, int error) {
    std::fprintf(stderr, "workload: %s: error %d\n", what, error);
    std::exit(1);
}

class Library {
  public:
    Library() : library_(dlopen("libcuda.so.1", RTLD_NOW)) {
        if (!library_)
            stop(dlerror(), 0);
    }

    /// Calls a function of the driver API. An error ends the program.
    template <typename... Arguments>
    void call(const char *name, Arguments... arguments) {
        if (const int error = ask(name, arguments...))
            stop(name, error);
    }

    template <typename... Arguments>
    int ask(const char *name, Arguments... arguments) {
        auto *const function = reinterpret_cast<int (*)(Arguments...)>(dlsym(library_, name));
        if (!function)
            stop(name, 0);
        return function(arguments...);
    }

  private:
    void *library_;
};

long argument(int argc, char **argv, int n, long otherwise) {
    return n < argc ? std::atol(argv[n]) : otherwise;
}

} // namespace

int main(int argc, char **argv) {
    const long seconds = argument(argc, argv, 1, 5), streams = argument(argc, argv, 2, 2),
               kernel_us = argument(argc, argv, 3, 200), copy_mib = argument(argc, argv, 4, 16);
    if (seconds < 1 || seconds > 120 || streams < 1 || streams > 64 || kernel_us < 1 ||
        kernel_us > 10000 || copy_mib < 0 || copy_mib > 256) {
        std::fprintf(stderr, "usage: workload SECONDS [STREAMS [KERNEL_US [COPY_MIB]]]\n");
        return 1;
    }
    alarm(static_cast<unsigned>(seconds) + 30);

    Library cuda;
    int device = 0;
    Handle context = nullptr, module = nullptr, spin = nullptr;
    cuda.call("cuInit", 0U);
    cuda.call("cuDeviceGet", &device, 0);
    cuda.call("cuCtxCreate_v2", &context, 0U, device);
    cuda.call("cuModuleLoadData", &module, static_cast<const void *>(ptx));
    cuda.call("cuModuleGetFunction", &spin, module, "spin");

    const std::size_t bytes = static_cast<std::size_t>(copy_mib) << 20;
    Pointer on_gpu = 0, also_on_gpu = 0;
    void *here = nullptr;
    if (bytes) {
        cuda.call("cuMemAlloc_v2", &on_gpu, bytes);
        cuda.call("cuMemAlloc_v2", &also_on_gpu, bytes);
        cuda.call("cuMemAllocHost_v2", &here, bytes);
    }
    std::vector<Handle> queue(static_cast<std::size_t>(streams));
    for (Handle &stream : queue)
        cuda.call("cuStreamCreate", &stream, 1U); // 1: not after the default stream

    std::uint64_t ns = static_cast<std::uint64_t>(kernel_us) * 1000;
    void *parameters[] = {&ns};
    bool said = false;
    unsigned long launched = 0;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
    while (std::chrono::steady_clock::now() < end) {
        for (std::size_t i = 0; i < queue.size(); i++) {
            const int busy = cuda.ask("cuStreamQuery", queue[i]);
            if (busy == not_ready)
                continue;
            if (busy)
                stop("cuStreamQuery", busy);
            for (int k = 0; k < 8; k++, launched++)
                cuda.call("cuLaunchKernel", spin, 1U, 1U, 1U, 32U, 1U, 1U, 0U, queue[i],
                          static_cast<void **>(parameters), static_cast<void **>(nullptr));
            if (bytes && i % 3 == 0)
                cuda.call("cuMemcpyHtoDAsync_v2", on_gpu, static_cast<const void *>(here), bytes,
                          queue[i]);
            if (bytes && i % 3 == 1)
                cuda.call("cuMemcpyDtoHAsync_v2", here, also_on_gpu, bytes, queue[i]);
            if (bytes && i % 3 == 2)
                cuda.call("cuMemcpyDtoDAsync_v2", also_on_gpu, on_gpu, bytes, queue[i]);
        }
        if (!said) {
            std::printf("ready 0x%llx\n", on_gpu);
            std::fflush(stdout);
            said = true;
        }
        std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    cuda.call("cuCtxDestroy_v2", context);
    std::printf("%lu kernels\n", launched);
    return 0;
}
