// SPDX-License-Identifier: MIT OR GPL-2.0
// Eight GPUs behind the stand-in, all of which are the same modelled GPU.
#pragma once

#include "bench.hpp"
#include "tests/support/waiting.hpp"

#include "nvdebug/gpu.hpp"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

namespace driver_test {

using namespace std::chrono_literals;

/// A barrier, at which no thread goes on before `count` threads are there.
class Together {
  public:
    explicit Together(std::size_t count) : count_(count) {}
    void wait() {
        std::unique_lock held(lock_);
        there_.insert(std::this_thread::get_id());
        changed_.notify_all();
        if (!changed_.wait_for(held, gave_up_ ? 0s : plenty / 2,
                               [this] { return there_.size() == count_; }))
            gave_up_ = true;
    }
    [[nodiscard]] bool gave_up() const { return gave_up_; }
    [[nodiscard]] std::size_t most() const { return there_.size(); }

  private:
    const std::size_t count_;
    std::mutex lock_;
    std::condition_variable changed_;
    std::set<std::thread::id> there_;
    bool gave_up_ = false;
};

class EightGpus : public Driver {
  protected:
    EightGpus() {
        kernel.cards.clear();
        for (std::uint32_t n = 0; n < 8; n++)
            kernel.add_card(n, static_cast<std::uint8_t>(n + 1));
        gpus = nvdebug::gpus(bench.tree()).value();
    }
    ~EightGpus() override {
        // Threads that a test has left behind still use the stand-in.
        gpus.clear();
        while (bench.kernel.use_count() > 1)
            std::this_thread::sleep_for(1ms);
        kernel.before_ioctl = nullptr;
    }

    std::vector<nvdebug::Gpu> gpus;
};

} // namespace driver_test
