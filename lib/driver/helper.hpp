// SPDX-License-Identifier: MIT OR GPL-2.0
// A process that is forked to make calls about other processes, and outlives the one that made it.
// It has no signals but SIGKILL and SIGSTOP, no terminal and no descriptors but those that it
// needs.
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

/** A request to the RM, ready to be made through a descriptor that was taken. */
struct Call {
    std::size_t process, control; ///< of the processes, and of its descriptors
    std::uint32_t client, object, command;
    std::vector<std::byte> params;
    /** The call is made only while the TSG has this timeslice, so that no other change is lost. */
    std::optional<std::uint64_t> only_while_us = std::nullopt;
    /** Set by undo_call(): the call was made, or its object has gone. */
    bool done = false;
};

template <typename Params>
Call call_of(const ClientChannel &owned, std::uint32_t object, const Params &params) {
    Call call{owned.process, owned.control, owned.client, object, Params::command, {}};
    call.params.resize(sizeof(params));
    std::memcpy(call.params.data(), &params, sizeof(params));
    return call;
}

/** Async-signal-safe if Kernel::ioctl() is. The parameters may get an answer. */
Answer make_call(Kernel &kernel, int descriptor, Call &call);

/**
 * Makes a call that undoes something, and marks it as done if nothing of it is left. A list of
 * channels that is refused is repeated one by one, and the call keeps those that failed. The
 * timeslice is asked for first where the call depends on it. Async-signal-safe like make_call().
 */
Answer undo_call(Kernel &kernel, int descriptor, Call &call);

/** The pauses after which an undo that failed is repeated: each is twice as long as the last. */
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
 * What a helper has, made before it is forked: from then on nothing is allocated. Processes that it
 * makes calls about may end first: it lets go of them then, so that the driver frees what they had.
 */
class Helper {
  public:
    /** @param socket the helper's end; the calls are those of @p processes */
    Helper(Kernel &kernel, int socket, const std::vector<Process> &processes,
           std::initializer_list<std::vector<Call> *> calls);

    /**
     * Forks it from a child that ends at once, so that no process has to wait for it. There it is
     * named
     * @p name and does @p work, which returns or does not. Returns an errno or 0, here.
     */
    int fork(const char *name, const std::function<void()> &work);

    // In the helper: async-signal-safe calls only.

    int socket() const { return socket_; }
    enum class Woken {
        message, ///< or the other end was closed
        late,    ///< none came within the time
        broken,  ///< nothing can be waited for
    };
    /** Lets go of what ends meanwhile. @param timeout_ms below 0: for ever */
    Woken wait(int timeout_ms);
    /** Its process lives, as far as is known. */
    bool is_there(const Call &call) const { return awaited_[call.process + 1].fd >= 0; }
    Answer make(Call &call);
    /** undo_call(), unless the call is done. If the process has ended, it is done. */
    Answer undo(Call &call);
    /** Closes the socket, and waits so long, or until a process has ended. */
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
    std::vector<Taken> taken_;    ///< those of calls
    std::vector<int> kept_;       ///< descriptors, rising
    std::vector<pollfd> awaited_; ///< the socket, then each process; below 0: none of its is kept
};

} // namespace nvdebug::driver

#endif
