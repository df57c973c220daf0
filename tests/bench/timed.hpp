// SPDX-License-Identifier: MIT OR GPL-2.0
// Counts the calls to the kernel or to a stand-in for it, and the time that they take.
#pragma once

#include "lib/driver/kernel.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <time.h>
#include <utility>
#include <vector>

namespace bench {

class Timed final : public nvdebug::driver::Kernel {
    template <typename Call>
    auto timed(Call call) {
        struct Span {
            Timed &timed;
            std::uint64_t begin = timed.now_ns();
            ~Span() {
                timed.calls++;
                timed.ns += timed.now_ns() - begin;
            }
        } const span{*this};
        return call();
    }

  public:
    /// @param clock CLOCK_MONOTONIC, or CLOCK_THREAD_CPUTIME_ID for the processor time of calls
    Timed(std::shared_ptr<nvdebug::driver::Kernel> kernel, clockid_t clock)
        : kernel_(std::move(kernel)), clock_(clock) {}

    std::atomic<std::uint64_t> calls = 0, ns = 0;

    int open(const std::string &path) override {
        return timed([&] { return kernel_->open(path); });
    }
    int access(const std::string &path) override {
        return timed([&] { return kernel_->access(path); });
    }
    void close(int descriptor) override {
        timed([&] { kernel_->close(descriptor); });
    }
    int ioctl(int descriptor, unsigned long request, void *argument) override {
        return timed([&] { return kernel_->ioctl(descriptor, request, argument); });
    }
    const void *map(int descriptor, std::size_t bytes) override {
        return timed([&] { return kernel_->map(descriptor, bytes); });
    }
    void unmap(const void *address, std::size_t bytes) override {
        timed([&] { kernel_->unmap(address, bytes); });
    }
    std::string read(const std::string &path) override {
        return timed([&] { return kernel_->read(path); });
    }
    int list(const std::string &path, std::vector<std::string> &names) override {
        return timed([&] { return kernel_->list(path, names); });
    }
    std::optional<std::uint64_t> device(const std::string &path) override {
        return timed([&] { return kernel_->device(path); });
    }
    bool is_root() override { return kernel_->is_root(); }
    std::uint32_t self() override { return kernel_->self(); }
    bool counts_as_host() override { return kernel_->counts_as_host(); }
    int process(std::uint32_t pid) override {
        return timed([&] { return kernel_->process(pid); });
    }
    int take(int process, int descriptor) override {
        return timed([&] { return kernel_->take(process, descriptor); });
    }
    int fork() override { return kernel_->fork(); }

  private:
    std::uint64_t now_ns() const {
        timespec now{};
        clock_gettime(clock_, &now);
        return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
               static_cast<std::uint64_t>(now.tv_nsec);
    }

    const std::shared_ptr<nvdebug::driver::Kernel> kernel_;
    const clockid_t clock_;
};

} // namespace bench
