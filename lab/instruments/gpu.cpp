// SPDX-License-Identifier: MIT OR GPL-2.0
#include "gpu.hpp"

#include "kernels.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dlfcn.h>

namespace lab {

namespace {

constexpr int sm_count = 16; // CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT
constexpr unsigned non_blocking = 1;

} // namespace

void fail(const std::string &sentence) {
    std::fprintf(stderr, "instrument: %s\n", sentence.c_str());
    std::exit(1);
}

std::uint64_t host_now() {
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
           static_cast<std::uint64_t>(time.tv_nsec);
}

void *find(const char *name) {
    static void *const library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library)
        fail("there is no libcuda.so.1, which NVIDIA's driver brings: " + std::string(dlerror()));
    void *const found = dlsym(library, name);
    if (!found)
        fail(std::string("this driver's libcuda.so.1 has no ") + name);
    return found;
}

void check(const char *name, int result) {
    if (!result)
        return;
    const char *word = nullptr;
    reinterpret_cast<int (*)(int, const char **)>(find("cuGetErrorName"))(result, &word);
    fail(std::string(name) + ": " + (word ? word : "unknown error") + " (" +
         std::to_string(result) + ")");
}

Gpu::Gpu() {
    Handle context = nullptr;
    int count = 0;
    call("cuInit", 0U);
    call("cuDevicePrimaryCtxRetain", &context, 0);
    call("cuCtxSetCurrent", context);
    call("cuDeviceGetAttribute", &count, sm_count, 0);
    call("cuModuleLoadData", &module_, static_cast<const void *>(kernels_ptx));
    sms_ = static_cast<unsigned>(count);
}

Handle Gpu::kernel(const char *name) const {
    Handle found = nullptr;
    call("cuModuleGetFunction", &found, module_, name);
    return found;
}

Handle Gpu::tensor_kernel(const char *name) {
    Handle module = nullptr, found = nullptr;
    call("cuModuleLoadData", &module, static_cast<const void *>(tensor_ptx));
    call("cuModuleGetFunction", &found, module, name);
    return found;
}

std::string Gpu::clock() const {
    struct Ran {
        std::uint64_t begin, end, sm;
    };
    auto *const ran = static_cast<volatile Ran *>(pinned(sizeof(Ran)));
    Address at = 0;
    call("cuMemHostGetDevicePointer_v2", &at, const_cast<void *>(static_cast<volatile void *>(ran)),
         0U);
    std::uint64_t nothing = 0, error = ~0ULL, host = 0, gpu = 0;
    std::array<void *, 2> arguments{&at, &nothing};
    const Stream stream;
    Handle const kernel = this->kernel("spin");
    for (int n = 0; n < 50; n++) {
        const std::uint64_t before = host_now();
        stream.launch(kernel, 1, 1, 0, arguments.data());
        stream.wait();
        const std::uint64_t after = host_now();
        if (after - before >= error)
            continue;
        error = after - before;
        host = before + error / 2;
        gpu = ran->end;
    }
    return "{\"host\": " + std::to_string(host) + ", \"gpu\": " + std::to_string(gpu) +
           ", \"error\": " + std::to_string(error / 2) + "}";
}

Address memory(std::size_t bytes) {
    Address address = 0;
    call("cuMemAlloc_v2", &address, bytes);
    call("cuMemsetD8_v2", address, static_cast<unsigned char>(0), bytes);
    call("cuCtxSynchronize");
    return address;
}

void *pinned(std::size_t bytes) {
    void *address = nullptr;
    call("cuMemAllocHost_v2", &address, bytes);
    std::memset(address, 0, bytes);
    return address;
}

Stream::Stream(int priority) {
    call("cuStreamCreateWithPriority", &stream_, non_blocking, priority);
}

void Stream::launch(Handle kernel, unsigned blocks, unsigned threads, unsigned shared,
                    void **arguments) const {
    call("cuLaunchKernel", kernel, blocks, 1U, 1U, threads, 1U, 1U, shared, stream_, arguments,
         static_cast<void **>(nullptr));
}

void Stream::copy(const std::string &kind, Address gpu, void *host, std::size_t bytes) const {
    if (kind == "h2d")
        call("cuMemcpyHtoDAsync_v2", gpu, static_cast<const void *>(host), bytes, stream_);
    else if (kind == "d2h")
        call("cuMemcpyDtoHAsync_v2", host, gpu, bytes, stream_);
    else if (kind == "d2d")
        call("cuMemcpyDtoDAsync_v2", gpu + bytes, gpu, bytes, stream_);
    else
        fail("'" + kind + "' is no kind of copy: h2d, d2h or d2d");
}

void Stream::wait() const {
    call("cuStreamSynchronize", stream_);
}

Event::Event() {
    call("cuEventCreate", &event_, 2U);
} // CU_EVENT_DISABLE_TIMING
void Event::record(const Stream &stream) const {
    call("cuEventRecord", event_, stream.get());
}
void Event::wait() const {
    call("cuEventSynchronize", event_);
}

} // namespace lab
