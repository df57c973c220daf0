// SPDX-License-Identifier: MIT OR GPL-2.0
/**
 * @file CUDA's driver API as the instruments use it. It is looked up at run time, so that building
 * needs nothing of CUDA. An error ends the program with a sentence on stderr and status 1. Times
 * are nanoseconds: `host` is CLOCK_MONOTONIC, `gpu` is %globaltimer.
 */
#ifndef NVDEBUG_LAB_GPU_HPP
#define NVDEBUG_LAB_GPU_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace lab {

using Handle = void *;
using Address = unsigned long long;

[[noreturn]] void fail(const std::string &sentence);

/** Returns the time of CLOCK_MONOTONIC in ns, which all processes share. */
std::uint64_t host_now();

/** Returns a function of libcuda.so.1. It must be called with the types of CUDA's header. */
void *find(const char *name);
void check(const char *name, int result);
template <typename... Arguments>
int ask(const char *name, Arguments... arguments) {
    return reinterpret_cast<int (*)(Arguments...)>(find(name))(arguments...);
}
template <typename... Arguments>
void call(const char *name, Arguments... arguments) {
    check(name, ask(name, arguments...));
}

/** The first GPU, its primary context and the kernels. */
class Gpu {
  public:
    Gpu();
    unsigned sms() const { return sms_; }
    Handle kernel(const char *name) const;
    /** Loads a kernel for tensor cores, which fails on GPUs before Volta. */
    static Handle tensor_kernel(const char *name);

    /** Returns `{"host": ns, "gpu": ns, "error": ns}`: both clocks at one moment, and the largest
     * error of the pair. */
    std::string clock() const;

  private:
    Handle module_ = nullptr;
    unsigned sms_ = 0;
};

/** Allocates zeroed memory of the GPU, which is freed when the process ends. */
Address memory(std::size_t bytes);
/** Allocates zeroed memory of the host that the GPU reaches. */
void *pinned(std::size_t bytes);

class Stream {
  public:
    /** @param priority 0; smaller is more urgent */
    explicit Stream(int priority = 0);
    void launch(Handle kernel, unsigned blocks, unsigned threads, unsigned shared,
                void **arguments) const;
    /** @param kind `h2d`, `d2h`, `d2d` */
    void copy(const std::string &kind, Address gpu, void *host, std::size_t bytes) const;
    void wait() const;
    Handle get() const { return stream_; }

  private:
    Handle stream_ = nullptr;
};

/** An event of CUDA, for which the program waits. */
class Event {
  public:
    Event();
    void record(const Stream &stream) const;
    void wait() const;

  private:
    Handle event_ = nullptr;
};

/** Copies memory of the GPU to the host with a plain copy of the context. */
template <typename Item>
std::vector<Item> fetch(Address from, std::size_t count) {
    std::vector<Item> items(count);
    call("cuMemcpyDtoH_v2", static_cast<void *>(items.data()), from, count * sizeof(Item));
    return items;
}

} // namespace lab

#endif
