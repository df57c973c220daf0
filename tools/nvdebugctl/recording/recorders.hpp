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

/// Records several GPUs, each on a thread of its own. A single GPU is recorded on the caller's
/// thread. Each call waits for the GPUs for a bounded time only. A GPU that takes longer finishes
/// its call in the background, and gets no other call before. If the call takes longer than the
/// deadline, the GPU is left out. A recorder that fails is ended.
class Recorders {
  public:
    using Clock = std::chrono::steady_clock;

    /// @param sink gets the events of all GPUs, one at a time. It gets them only during calls of
    /// this object's functions, or while quiet() is not held.
    explicit Recorders(Sink &sink, std::chrono::milliseconds deadline = gpu_deadline)
        : sink_(sink), deadline_(deadline) {}
    Recorders(const Recorders &) = delete;
    Recorders &operator=(const Recorders &) = delete;
    ~Recorders();

    /// Makes a recorder for each GPU that has something to record (Recorder::start()).
    /// take_errors() returns why other GPUs have none.
    void start(const std::vector<nvdebug::Gpu> &gpus, std::uint64_t period_ns);

    [[nodiscard]] bool empty() const { return ones_.empty(); }
    [[nodiscard]] bool has_samples() const;
    /// Returns the GPUs that are recorded.
    [[nodiscard]] const std::vector<RecordedGpu> &gpus() const { return gpus_; }
    /// Returns the reasons why some events are not recorded.
    [[nodiscard]] const std::vector<std::string> &notes() const { return notes_; }

    // These functions call Recorder's function of the same name for all GPUs.
    void begin();
    void sample();
    void miss(std::uint64_t samples);
    void read_switches();
    /// Also notes the clocks.
    void look_for_processes();
    void split();
    /// Reads the last switches before it ends the recorders.
    void end();
    /// @param gpu the GPU's folder
    void mark(const std::string &gpu, std::uint64_t monotonic_ns, std::uint32_t pid,
              const std::string &text);

    /// Returns each error once: the reasons why GPUs are not recorded any more.
    [[nodiscard]] std::vector<nvdebug::Error> take_errors() { return std::exchange(errors_, {}); }
    /// Returns an error for each GPU that does not answer at present. Nothing is known about it for
    /// this interval.
    [[nodiscard]] std::vector<nvdebug::Error> silent() const;
    /// Returns whether a thread still waits for a GPU that does not answer.
    [[nodiscard]] bool any_hangs() const { return hangs_; }
    /// Locks the sink: it gets no events while the result is held.
    [[nodiscard]] std::unique_lock<std::mutex> quiet() const { return std::unique_lock(*lock_); }

  private:
    using Done = nvdebug::Result<void>;
    class Gate;
    struct One {
        nvdebug::Gpu gpu;
        std::shared_ptr<Gate> gate;
        std::optional<Caller> caller = {}; ///< empty: calls are made on the caller's thread
        std::shared_ptr<Recorder> recorder = {};
        /// Things to do at the begin of the next call, because the GPU was busy with another one.
        std::vector<std::function<void(Recorder &)>> pending = {};
        std::future<Done> answer = {}; ///< valid while a call goes on
        Clock::time_point since = {};  ///< begin of the call that goes on
    };

    void each(std::chrono::milliseconds patience, const std::function<Done(Recorder &)> &what);
    template <typename Call>
    static auto call(One &one, Call what) -> std::future<std::invoke_result_t<Call>>;
    /// Waits until the call that goes on ends.
    /// @return false: it still goes on
    bool settle(One &one, Clock::time_point until);
    void leave(One &one);
    void drop_ended();

    Sink &sink_;
    const std::chrono::milliseconds deadline_;
    const std::shared_ptr<std::mutex> lock_ = std::make_shared<std::mutex>();
    std::vector<One> ones_;
    std::vector<std::shared_ptr<Recorder>> ended_; ///< kept because emitted turns refer to them
    std::vector<RecordedGpu> gpus_;
    std::vector<std::string> notes_;
    std::vector<nvdebug::Error> errors_;
    bool hangs_ = false;
};

} // namespace nvdebugctl
