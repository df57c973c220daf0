// SPDX-License-Identifier: MIT OR GPL-2.0
// Tasks that a helper pauses and gives timeslices again and again.
#pragma once

#include "helper.hpp"
#include "keeper.hpp"
#include "nvdebug/hold.hpp"

#include <functional>
#include <string>
#include <vector>

namespace nvdebug::driver {

/// Calls of a Hold, made ready.
struct HeldCalls {
    std::vector<Call> disable, enable;    ///< of channels: each undoes the other of its number
    std::vector<Call> set, look;          ///< of each TSG: its timeslice; the value is put in
    std::vector<std::uint64_t> before_us; ///< of each TSG
};

class Hold final : public TaskHold {
  public:
    /// The processes are those that the calls are about, and may be more.
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
    JournalEntry entry_;
    const std::vector<HeldChannel> channels_;
    const std::function<void(const std::string &)> report_left_;
    int socket_ = -1;
    std::size_t asked_ = 0; ///< of which the answers are outstanding
    /// What the helper was last seen to have done, and what it was asked for since. Each may hold.
    std::vector<TaskState> states_{TaskState{}};
    std::vector<Process> processes_; ///< what was taken of them is the helper's alone
};

} // namespace nvdebug::driver
