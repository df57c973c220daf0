// SPDX-License-Identifier: MIT OR GPL-2.0
// Undoes a change when the process that made it ends, however it ends: a process of its own.
#ifndef NVDEBUG_DRIVER_KEEPER_HPP
#define NVDEBUG_DRIVER_KEEPER_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include "ownership.hpp"

namespace nvdebug::driver {

/** A request to the RM, ready to be made through a descriptor that was taken. */
struct Call {
    std::size_t process, control; ///< of the processes, and of its descriptors
    std::uint32_t client, object, command;
    std::vector<std::byte> params;
    /** The call is made only while the TSG has this timeslice, so that no other change is lost. */
    std::optional<std::uint64_t> only_while_us = std::nullopt;
};

template <typename Params>
Call call_of(const OwnedChannel &owned, std::uint32_t object, const Params &params) {
    Call call{owned.process, owned.control, owned.client, object, Params::command, {}};
    call.params.resize(sizeof(params));
    std::memcpy(call.params.data(), &params, sizeof(params));
    return call;
}

/** Async-signal-safe if Kernel::ioctl() is. The parameters may get an answer. */
Answer make_call(Kernel &kernel, int descriptor, Call &call);

/**
 * A process that makes calls once this object, or the process that has it, ends. It has no signals
 * but SIGKILL and SIGSTOP, no terminal and no descriptors but those that it needs. A process that
 * the calls are about may end first: it is let go then, so that the driver frees what it had.
 *
 * Once it is settled, this process has no descriptor of theirs but a pidfd each. If the keeper has
 * been killed, the calls are made here, through descriptors taken anew. They are not made if both
 * are killed at once.
 */
class Keeper {
  public:
    /** The processes are those that the calls are about, and may be more. */
    static Result<std::shared_ptr<Keeper>> start(std::shared_ptr<Kernel> kernel,
                                                 const std::vector<Process> &processes,
                                                 std::vector<Call> calls);
    Keeper(const Keeper &) = delete;
    Keeper &operator=(const Keeper &) = delete;
    /** Returns when the calls were made; five seconds at most, if the keeper hangs. */
    ~Keeper();

    /** From now on the keeper alone has what was taken of them. */
    void settle(std::vector<Process> processes);
    /** Nothing is to be undone any more. */
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

#endif
