// SPDX-License-Identifier: MIT OR GPL-2.0
// Undoes a change when the process that made it ends, however it ends: a process of its own.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <sys/types.h>
#include <vector>

#include "helper.hpp"
#include "journal.hpp"

namespace nvdebug::driver {

/// What became of calls that undo something.
struct Undone {
    bool all = true;      ///< else something is left
    bool is_kept = false; ///< of what is left: a Keeper repeats it
    std::string left;     ///< which processes are still changed, and what to do; empty: none is
};

/// Makes calls that undo, through descriptors that this process has. Calls that fail are left to a
/// Keeper, which repeats them while the processes live. @p gpu is named by its PCI address.
Undone undo_calls(const std::shared_ptr<Kernel> &kernel, const std::string &gpu,
                  const std::vector<Process> &processes, std::vector<Call> calls);

/// Does the same through descriptors that are taken anew of the processes, as far as they still
/// have them open: their helper was killed.
Undone undo_anew(const std::shared_ptr<Kernel> &kernel, const std::string &gpu,
                 std::vector<Process> &processes, std::vector<Call> calls);

/// The numbers of processes, in the order of them.
std::vector<std::uint32_t> pids_of(const std::vector<Process> &processes);

/// What the driver answered to a call that failed, as a part of a sentence.
std::string describe(const Answer &failed);

/// What a keeper reports: calls failed, and it makes them again. @p pids are of Call::process.
Undone left_to(pid_t keeper, const std::vector<std::uint32_t> &pids, const std::vector<Call> &calls,
               const Answer &failed);

/// The first of some calls that are not done, for a report: bit n is that of call n, and the last
/// bit that of all others.
std::uint64_t not_done(const std::vector<Call> &calls);
/// Marks the calls whose bits are clear as done.
void mark_done(std::vector<Call> &calls, std::uint64_t left);

/// A Helper that makes calls once this object, or the process that has it, ends. It repeats calls
/// that fail, with growing pauses, and does not end before each is made or its process has ended.
///
/// Once it is settled, this process has no descriptor of theirs but a pidfd each. If the keeper has
/// been killed, the calls are made here, through descriptors taken anew. If both are killed at
/// once, its JournalEntry says what is to be undone.
class Keeper {
  public:
    enum class Written {
        needed,     ///< without its entry it does not start
        if_possible ///< something is changed already
    };
    /// The processes are those that the calls are about, and may be more.
    static Result<std::shared_ptr<Keeper>> start(std::shared_ptr<Kernel> kernel,
                                                 const std::string &gpu,
                                                 const std::vector<Process> &processes,
                                                 std::vector<Call> calls,
                                                 Written written = Written::needed);
    Keeper(const Keeper &) = delete;
    Keeper &operator=(const Keeper &) = delete;
    /// Calls undo(), unless undo() or dismiss() was called.
    ~Keeper();

    /// From now on the keeper alone has what was taken of them.
    void settle(std::vector<Process> processes);
    /// Nothing is to be undone any more.
    void dismiss();
    /// Returns when each call was made once; five seconds at most, if the keeper hangs.
    Undone undo();

    /// What undo() returned as Undone::left. It outlives this object.
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
    std::vector<Process> processes_; // once it is settled
    const std::shared_ptr<std::string> left_ = std::make_shared<std::string>();
};

} // namespace nvdebug::driver
