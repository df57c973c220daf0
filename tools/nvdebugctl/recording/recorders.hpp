// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The recorders of several GPUs, side by side.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/side_by_side.hpp"
#include "recorder.hpp"

namespace nvdebugctl {

/// Each GPU is asked on a thread of its own (a single one here). One that takes longer than the
/// others are made to wait goes on by itself and is not asked meanwhile; after the deadline it is
/// left out. One that fails is ended.
class Recorders {
  public:
    using Clock = std::chrono::steady_clock;

    /// @param sink gets the events of all, one at a time, and only while functions of this are
    /// called or quiet() is not held
    explicit Recorders(Sink &sink, std::chrono::milliseconds deadline = gpu_deadline)
        : sink_(sink), deadline_(deadline) {}
    Recorders(const Recorders &) = delete;
    Recorders &operator=(const Recorders &) = delete;
    ~Recorders();

    /// Makes a recorder for each GPU that has something to record (Recorder::start());
    /// take_errors() has the reasons of the others.
    void start(const std::vector<nvdebug::Gpu> &gpus, std::uint64_t period_ns);

    [[nodiscard]] bool empty() const { return ones_.empty(); }
    [[nodiscard]] bool has_samples() const;
    /// The GPUs that are recorded.
    [[nodiscard]] const std::vector<RecordedGpu> &gpus() const { return gpus_; }
    /// Why there is less than there could be.
    [[nodiscard]] const std::vector<std::string> &notes() const { return notes_; }

    // Of Recorder, for all.
    void begin();
    void sample();
    void miss(std::uint64_t samples);
    void read_switches();
    /// And the clocks.
    void look_for_processes();
    void split();
    /// And what switches there are before.
    void end();
    /// @param gpu its folder
    void mark(const std::string &gpu, std::uint64_t monotonic_ns, std::uint32_t pid,
              const std::string &text);

    /// Why GPUs are recorded no more; each once.
    [[nodiscard]] std::vector<nvdebug::Error> take_errors() { return std::exchange(errors_, {}); }
    /// Those that do not answer now: nothing is known of them in this interval.
    [[nodiscard]] std::vector<nvdebug::Error> silent() const;
    /// Does a thread wait for a GPU that does not answer?
    [[nodiscard]] bool any_hangs() const { return hangs_; }
    /// While it is held the sink gets nothing.
    [[nodiscard]] std::unique_lock<std::mutex> quiet() const { return std::unique_lock(*lock_); }

  private:
    using Done = nvdebug::Result<void>;
    class Gate;
    struct One {
        nvdebug::Gpu gpu;
        std::shared_ptr<Gate> gate;
        std::optional<Caller> caller = {}; ///< empty: calls are made here
        std::shared_ptr<Recorder> recorder = {};
        /// For the begin of the next call: it was not to be waited for.
        std::vector<std::function<void(Recorder &)>> pending = {};
        std::future<Done> answer = {}; ///< valid: of the call that goes on
        Clock::time_point since = {};  ///< the begin of that call
    };

    void each(std::chrono::milliseconds patience, const std::function<Done(Recorder &)> &what);
    template <typename Call>
    static auto call(One &one, Call what) -> std::future<std::invoke_result_t<Call>>;
    /// Waits for the call that goes on. @return whether there is none any more
    bool settle(One &one, Clock::time_point until);
    void leave(One &one);
    void drop_ended();

    Sink &sink_;
    const std::chrono::milliseconds deadline_;
    const std::shared_ptr<std::mutex> lock_ = std::make_shared<std::mutex>();
    std::vector<One> ones_;
    std::vector<std::shared_ptr<Recorder>> ended_; ///< turns that were emitted refer to them
    std::vector<RecordedGpu> gpus_;
    std::vector<std::string> notes_;
    std::vector<nvdebug::Error> errors_;
    bool hangs_ = false;
};

} // namespace nvdebugctl
