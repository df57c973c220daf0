// SPDX-License-Identifier: MIT OR GPL-2.0
// A keeper is a process of its own that undoes a change when the process that made the change ends,
// however that happens.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <sys/types.h>
#include <vector>

#include "helper.hpp"
#include "journal.hpp"

namespace nvdebug::driver {

/// The result of calls that undo changes.
struct Undone {
    bool all = true;      ///< false: some changes are left
    bool is_kept = false; ///< a Keeper repeats the calls that are left
    std::string left;     ///< a sentence with the processes that are still changed and the commands
                          ///< that undo it; empty: none
};

/// Makes calls that undo, through descriptors that this process has. Calls that fail are left to a
/// Keeper, which repeats them while the processes live. @p gpu is the GPU's PCI address.
Undone undo_calls(const std::shared_ptr<Kernel> &kernel, const std::string &gpu,
                  const std::vector<Process> &processes, std::vector<Call> calls);

/// Undoes the changes of a helper that was killed: duplicates the descriptors of the processes
/// again, as far as they are still open, and makes the calls through them.
Undone undo_anew(const std::shared_ptr<Kernel> &kernel, const std::string &gpu,
                 std::vector<Process> &processes, std::vector<Call> calls);

/// Returns the numbers of the processes, in their order.
std::vector<std::uint32_t> pids_of(const std::vector<Process> &processes);

/// Returns the driver's answer to a call that failed, as a part of a sentence.
std::string describe(const Answer &failed);

/// Returns the result of calls that failed and that a keeper repeats. Call::process is an index
/// into @p pids.
Undone left_to(pid_t keeper, const std::vector<std::uint32_t> &pids, const std::vector<Call> &calls,
               const Answer &failed);

/// Returns the first 63 calls that are not done as bits, for a report: bit n is call n. The highest
/// bit stands for all further calls.
std::uint64_t not_done(const std::vector<Call> &calls);
/// Marks the calls with a clear bit in @p left as done.
void mark_done(std::vector<Call> &calls, std::uint64_t left);

/// A Helper that makes calls once this object, or the process that has it, ends. It repeats calls
/// that fail, with growing pauses, and does not end before each call has succeeded or its process
/// has ended.
///
/// After settle(), this process has no descriptor of the changed processes except a pidfd for each.
/// If the keeper is killed, this process makes the calls, through descriptors that it duplicates
/// again. If both are killed at once, the JournalEntry has what is to be undone.
class Keeper {
  public:
    enum class Written {
        needed,     ///< the keeper does not start if its entry cannot be written
        if_possible ///< it starts anyway, because something is changed already
    };
    /// Starts the keeper. @p processes has every process that a call is about, and may have more.
    static Result<std::shared_ptr<Keeper>> start(std::shared_ptr<Kernel> kernel,
                                                 const std::string &gpu,
                                                 const std::vector<Process> &processes,
                                                 std::vector<Call> calls,
                                                 Written written = Written::needed);
    Keeper(const Keeper &) = delete;
    Keeper &operator=(const Keeper &) = delete;
    /// Calls undo(), unless undo() or dismiss() was called.
    ~Keeper();

    /// Closes the descriptors here, so that only the keeper has them.
    void settle(std::vector<Process> processes);
    /// Ends the keeper without an undo.
    void dismiss();
    /// Returns when each call was made once, or after five seconds if the keeper hangs.
    Undone undo();

    /// Returns Undone::left of undo(). The string outlives this object.
    std::shared_ptr<const std::string> left() const { return left_; }

  private:
    Keeper(std::shared_ptr<Kernel> kernel, const std::string &gpu,
           const std::vector<Process> &processes, std::vector<Call> calls, int socket)
        : kernel_(std::move(kernel)), gpu_(gpu), calls_(std::move(calls)),
          entry_(gpu, processes, {&calls_}), socket_(socket), pids_(pids_of(processes)) {}

    std::shared_ptr<Kernel> kernel_;
    const std::string gpu_;
    std::vector<Call> calls_;
    JournalEntry entry_;
    int socket_;
    pid_t pid_ = 0; ///< the keeper's
    std::vector<std::uint32_t> pids_;
    std::vector<Process> processes_; // set by settle()
    const std::shared_ptr<std::string> left_ = std::make_shared<std::string>();
};

} // namespace nvdebug::driver
