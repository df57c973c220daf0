// SPDX-License-Identifier: MIT OR GPL-2.0
// Undoes a change when the process that made it ends, however it ends: a process of its own.
#pragma once

#include <memory>
#include <vector>

#include "helper.hpp"

namespace nvdebug::driver {

/// A Helper that makes calls once this object, or the process that has it, ends.
///
/// Once it is settled, this process has no descriptor of theirs but a pidfd each. If the keeper has
/// been killed, the calls are made here, through descriptors taken anew. They are not made if both
/// are killed at once.
class Keeper {
  public:
    /// The processes are those that the calls are about, and may be more.
    static Result<std::shared_ptr<Keeper>> start(std::shared_ptr<Kernel> kernel,
                                                 const std::vector<Process> &processes,
                                                 std::vector<Call> calls);
    Keeper(const Keeper &) = delete;
    Keeper &operator=(const Keeper &) = delete;
    /// Returns when the calls were made; five seconds at most, if the keeper hangs.
    ~Keeper();

    /// From now on the keeper alone has what was taken of them.
    void settle(std::vector<Process> processes);
    /// Nothing is to be undone any more.
    void dismiss();

  private:
    Keeper(std::shared_ptr<Kernel> kernel, std::vector<Call> calls, int socket)
        : kernel_(std::move(kernel)), calls_(std::move(calls)), socket_(socket) {}

    std::shared_ptr<Kernel> kernel_;
    std::vector<Call> calls_;
    int socket_;
    std::vector<Process> processes_; // once it is settled
};

} // namespace nvdebug::driver
