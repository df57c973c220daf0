// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Asks several GPUs at once, so that a GPU that does not answer delays no other one.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "nvdebug/gpu.hpp"

namespace nvdebugctl {

/// Makes calls one after the other on a thread of its own, which takes no signals.
class Caller {
  public:
    Caller();
    Caller(Caller &&) noexcept = default;
    Caller &operator=(Caller &&other) noexcept {
        std::swap(calls_, other.calls_);
        std::swap(thread_, other.thread_);
        return *this;
    }
    /// Waits for the calls, unless leave() was called.
    ~Caller();

    /// Queues a call. Because leave() may leave it behind, the call has to own everything that it
    /// uses. If the system can make no more threads, the call is made here.
    template <typename Call>
    auto call(Call call) -> std::future<std::invoke_result_t<Call>> {
        const auto task =
            std::make_shared<std::packaged_task<std::invoke_result_t<Call>()>>(std::move(call));
        auto answer = task->get_future();
        start([task] { (*task)(); });
        return answer;
    }

    /// Gives up waiting for the thread, because one of its calls does not return.
    void leave() {
        if (thread_.joinable())
            thread_.detach();
    }

  private:
    struct Calls;
    void start(std::function<void()> call);

    std::shared_ptr<Calls> calls_; ///< shared with the thread
    std::thread thread_;
};

/// A GPU that takes longer than this to answer a question counts as hanging. Finding the processes
/// of all GPUs takes up to 5 s for one user (lib/driver/ownership.cpp).
inline constexpr std::chrono::milliseconds gpu_deadline{10'000};

/// Returns the error that @p gpu did not answer within the deadline.
[[nodiscard]] nvdebug::Error no_answer(const nvdebug::Gpu &gpu, std::chrono::milliseconds deadline);

/// Asks several GPUs at once, each on a thread of its own. After a GPU misses the deadline once, it
/// is not asked again.
class SideBySide {
  public:
    explicit SideBySide(const std::vector<nvdebug::Gpu> &gpus,
                        std::chrono::milliseconds deadline = gpu_deadline);

    /// Returns the answers in the order of the GPUs.
    /// @param question a function from a GPU to a Result, which owns everything that it uses
    template <typename Question>
    auto ask(Question question)
        -> std::vector<std::invoke_result_t<Question, const nvdebug::Gpu &>> {
        using Answer = std::invoke_result_t<Question, const nvdebug::Gpu &>;
        const auto until = std::chrono::steady_clock::now() + deadline_;
        std::vector<std::future<Answer>> asked;
        for (One &one : all_)
            asked.push_back(
                one.hangs ? std::future<Answer>()
                          : one.caller.call([question, gpu = one.gpu] { return question(gpu); }));
        std::vector<Answer> answers;
        for (std::size_t n = 0; n < all_.size(); n++) {
            One &one = all_[n];
            if (!one.hangs && asked[n].wait_until(until) != std::future_status::ready) {
                one.hangs = true;
                one.caller.leave();
            }
            if (one.hangs)
                answers.push_back(tl::unexpected(no_answer(one.gpu, deadline_)));
            else
                answers.push_back(asked[n].get());
        }
        return answers;
    }

    /// Returns whether a GPU missed a deadline. Its thread is left behind.
    [[nodiscard]] bool any_hangs() const;

  private:
    struct One {
        nvdebug::Gpu gpu;
        Caller caller = {};
        bool hangs = false;
    };
    std::vector<One> all_;
    const std::chrono::milliseconds deadline_;
};

} // namespace nvdebugctl
