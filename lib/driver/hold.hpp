// SPDX-License-Identifier: MIT OR GPL-2.0
// A Hold lets a helper pause tasks and set their timeslices, repeatedly.
#pragma once

#include "helper.hpp"
#include "keeper.hpp"
#include "nvdebug/hold.hpp"

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace nvdebug::driver {

/// The calls of a Hold, prepared before the helper is forked.
struct HeldCalls {
    std::vector<Call> disable, enable;    ///< calls about channels; enable[n] undoes disable[n]
    std::vector<Call> set, look;          ///< calls that set and read the timeslice of each TSG;
                                          ///< the helper puts in the value
    std::vector<std::uint64_t> before_us; ///< the timeslice that each TSG had before
};

/// Numbers that a process has in common with the children that it forks.
class SharedNumbers {
  public:
    SharedNumbers() = default;
    SharedNumbers(const SharedNumbers &) = delete;
    SharedNumbers &operator=(const SharedNumbers &) = delete;
    ~SharedNumbers();
    /// Begins with @p values. Is called once. @returns 0 or the errno
    int begin(const std::vector<std::uint64_t> &values);
    std::uint64_t &operator[](std::size_t n) { return all_[n]; }

  private:
    std::span<std::uint64_t> all_;
};

class Hold final : public TaskHold {
  public:
    /// Starts the helper. @p processes has every process that a call is about, and may have more.
    /// @param gpu its PCI address
    static Result<std::unique_ptr<TaskHold>>
    start(std::shared_ptr<Kernel> kernel, const std::string &gpu, std::vector<Process> processes,
          HeldCalls calls, std::vector<HeldChannel> channels, const HoldOptions &options);
    ~Hold() override;

    Result<void> ask(const TaskState &wanted) override;
    Result<void> finish() override;
    std::size_t tsgs() const override { return calls_.set.size(); }
    const std::vector<HeldChannel> &channels() const override { return channels_; }

  private:
    Hold(std::shared_ptr<Kernel> kernel, const std::string &gpu,
         const std::vector<Process> &processes, HeldCalls calls, std::vector<HeldChannel> channels,
         std::function<void(const std::string &)> report_left)
        : kernel_(std::move(kernel)), gpu_(gpu), calls_(std::move(calls)),
          entry_(gpu, processes, {&calls_.enable, &calls_.set}), channels_(std::move(channels)),
          report_left_(std::move(report_left)) {}
    Undone undo_here();
    Error broken();

    const std::shared_ptr<Kernel> kernel_;
    const std::string gpu_;
    HeldCalls calls_;
    SharedNumbers before_us_; ///< HeldCalls::before_us, or what other programs have set since
    JournalEntry entry_;
    const std::vector<HeldChannel> channels_;
    const std::function<void(const std::string &)> report_left_;
    int socket_ = -1;
    std::size_t asked_ = 0; ///< how many orders have not been answered yet
    /// The state that the helper last confirmed, and the states that it was told to reach since
    /// then. Any of them may be the present one.
    std::vector<TaskState> states_{TaskState{}};
    std::vector<Process> processes_; ///< without their descriptors, which only the helper has
};

} // namespace nvdebug::driver
