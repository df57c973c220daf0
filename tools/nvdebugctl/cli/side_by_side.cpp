// SPDX-License-Identifier: MIT OR GPL-2.0
#include "side_by_side.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <fmt/format.h>
#include <system_error>

namespace nvdebugctl {

struct Caller::Calls {
    std::mutex lock;
    std::condition_variable changed;
    std::deque<std::function<void()>> waiting;
    bool ending = false;

    /// Makes the waiting calls, until the owner ends and no call is left.
    void make() {
        for (std::unique_lock held(lock);;) {
            changed.wait(held, [this] { return ending || !waiting.empty(); });
            if (waiting.empty())
                return;
            const auto call = std::move(waiting.front());
            waiting.pop_front();
            held.unlock();
            call();
            held.lock();
        }
    }
};

Caller::Caller() : calls_(std::make_shared<Calls>()) {
    // The thread takes no signals, so that they reach the main thread, which ends the program in
    // order.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
        thread_ = std::thread([calls = calls_] { calls->make(); });
    } catch (const std::system_error &) {
        // There is no thread, so start() makes the calls itself.
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Caller::~Caller() {
    if (!calls_)
        return; // the object was moved from
    {
        const std::scoped_lock held(calls_->lock);
        calls_->ending = true;
    }
    calls_->changed.notify_all();
    if (thread_.joinable())
        thread_.join();
}

void Caller::start(std::function<void()> call) {
    if (!thread_.joinable())
        return call();
    {
        const std::scoped_lock held(calls_->lock);
        calls_->waiting.push_back(std::move(call));
    }
    calls_->changed.notify_all();
}

nvdebug::Error no_answer(const nvdebug::Gpu &gpu, std::chrono::milliseconds deadline) {
    // The error does not name the GPU's address, because reading it might hang, too.
    return {nvdebug::ErrorCode::timeout, ETIMEDOUT, gpu.path("info"),
            fmt::format("gpu{} did not answer within {} s and is left out; 'nvidia-smi' and the "
                        "kernel's log (dmesg, Xid) may show what is wrong with it",
                        gpu.index(), std::chrono::duration<double>(deadline).count())};
}

SideBySide::SideBySide(const std::vector<nvdebug::Gpu> &gpus, std::chrono::milliseconds deadline)
    : deadline_(deadline) {
    for (const nvdebug::Gpu &gpu : gpus)
        all_.push_back({gpu});
}

bool SideBySide::any_hangs() const {
    return std::ranges::any_of(all_, &One::hangs);
}

} // namespace nvdebugctl
