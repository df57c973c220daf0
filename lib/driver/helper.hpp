// SPDX-License-Identifier: MIT OR GPL-2.0
// A helper is a forked process that makes calls about other processes, and outlives the process
// that made it. It handles no signals, so only SIGKILL and SIGSTOP affect it, and has no terminal
// and only the descriptors that it needs.
#ifndef NVDEBUG_DRIVER_HELPER_HPP
#define NVDEBUG_DRIVER_HELPER_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <vector>

#include <poll.h>

#include "ownership.hpp"

namespace nvdebug::driver {

/** A request to the RM, ready to be made through the duplicate of a process's descriptor. */
struct Call {
    std::size_t process, control; ///< index of the process, and of its descriptor
    std::uint32_t client, object, command;
    std::vector<std::byte> params;
    /** The call is made only if the TSG has this timeslice, so that no other change is lost. */
    std::optional<std::uint64_t> only_while_us = std::nullopt;
    /** Set by undo_call(): the call was made, or its object has been freed. */
    bool done = false;
};

template <typename Params>
Call call_of(const ClientChannel &owned, std::uint32_t object, const Params &params) {
    Call call{owned.process, owned.control, owned.client, object, Params::command, {}};
    call.params.resize(sizeof(params));
    std::memcpy(call.params.data(), &params, sizeof(params));
    return call;
}

/**
 * Makes a call. The driver may write an answer into its parameters. Async-signal-safe if
 * Kernel::ioctl() is.
 */
Answer make_call(Kernel &kernel, int descriptor, Call &call);

/**
 * Makes a call that undoes a change, and marks the call as done if nothing is left to undo. If the
 * driver refuses a list of channels, the call is repeated for each channel alone, and then keeps
 * the channels that failed. Reads the timeslice first if Call::only_while_us is set.
 * Async-signal-safe like make_call().
 */
Answer undo_call(Kernel &kernel, int descriptor, Call &call);

/** The pauses before an undo that failed is repeated. Each pause doubles the previous one. */
class Pauses {
  public:
    int next_ms() const { return next_ms_; }
    void grow() { next_ms_ = next_ms_ < longest_ms / 2 ? 2 * next_ms_ : longest_ms; }
    void begin_anew() { next_ms_ = first_ms; }

  private:
    static constexpr int first_ms = 10, longest_ms = 10'000;
    int next_ms_ = first_ms;
};

/**
 * The state of a helper. It is made before the fork, because the helper allocates no memory. When
 * a process ends that the helper makes calls about, the helper closes its descriptors of that
 * process, so that the driver frees the process's objects.
 */
class Helper {
  public:
    /** @param socket the helper's end; the calls are those of @p processes */
    Helper(Kernel &kernel, int socket, const std::vector<Process> &processes,
           std::initializer_list<std::vector<Call> *> calls);

    /**
     * Forks the helper from a child that ends at once, so that no process has to wait for the
     * helper's end. The helper is named @p name, does @p work and ends. Returns 0 or the errno in
     * the calling process.
     */
    int fork(const char *name, const std::function<void()> &work);

    // The helper calls the following functions, which make only async-signal-safe calls.

    int socket() const { return socket_; }
    enum class Woken {
        message, ///< or the other end was closed
        late,    ///< no message came within the time
        broken,  ///< waiting is impossible
    };
    /**
     * Waits for a message, and closes the descriptors of each process that ends during the wait.
     * @param timeout_ms below 0: for ever
     */
    Woken wait(int timeout_ms);
    /** Returns false if the process of the call is known to have ended. */
    bool is_there(const Call &call) const { return awaited_[call.process + 1].fd >= 0; }
    Answer make(Call &call);
    /** Calls undo_call() unless the call is done, as it also is if the process has ended. */
    Answer undo(Call &call);
    /** Closes the socket, and waits for @p ms milliseconds or until a process has ended. */
    void pause(int ms);

  private:
    struct Taken {
        std::size_t process, control;
        int number;
    };
    bool is_kept(int number) const;
    bool close_listed(int folder) const;
    void close_others() const;
    void let_go(std::size_t process);
    bool let_go_of_ended();
    int number_of(const Call &call) const;

    Kernel &kernel_;
    int socket_;
    std::vector<Taken> taken_;    ///< descriptors through which the calls are made
    std::vector<int> kept_;       ///< descriptors of this process that stay open, in rising order
    std::vector<pollfd> awaited_; ///< the socket, then each process; below 0: no descriptor of that
                                  ///< process is kept
};

} // namespace nvdebug::driver

#endif
