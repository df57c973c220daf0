// SPDX-License-Identifier: MIT OR GPL-2.0
// Programs on the modelled GPU, in virtual time: streams of kernels and copies over channels,
// blocks over SMs, copies over copy engines. Host (host/) gives engines to TSGs; this part models
// the work of the engines. It is deterministic, and goes from event to event. The rules, each with
// its source, are in docs/model.md, "Programs".
#pragma once

#include "device/gpu.hpp"
#include "programs/operation.hpp"
#include "programs/process.hpp"
#include "programs/rules.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace nvmodel {

/// Numbers from 0 on name processes, streams and operations, in the order in which they were made.
class Programs {
  public:
    /// Makes a GPU on which these processes have just been started; they all stay until the end.
    /// Throws ConfigError if the board has no room for them or lacks an engine that they use.
    Programs(const Board &board, std::vector<Process> processes, const Rules &rules = {});
    ~Programs();
    Programs(const Programs &) = delete;
    Programs &operator=(const Programs &) = delete;

    /// The GPU below: its registers, lists and channels. An access to a BAR takes time. Events in
    /// that time are noticed after the access, unless the fault freeze-after is set.
    [[nodiscard]] Gpu &gpu();
    [[nodiscard]] const Gpu &gpu() const;
    [[nodiscard]] const Process &process(std::size_t process) const;

    // --- actions of programs, which take no time ---

    /// Opens a stream and returns its number. A process's streams get its channels in turn.
    std::size_t open_stream(std::size_t process);
    /// Append to a stream and return the operation's number. Throw ConfigError if a block does not
    /// fit on an SM, or if there is nothing to do (no blocks, no bytes).
    std::size_t launch(std::size_t stream, const Kernel &kernel);
    std::size_t copy(std::size_t stream, Direction direction, std::uint64_t bytes);

    // --- actions of the driver for them ---

    /// Sets the mode that counts from the next time on that the process's compute task loses GR0.
    void set_preemption(std::size_t process, ComputePreemption mode);
    /// Enables or disables all channels of a process, on all runlists. Disabling takes its tasks
    /// off their engines.
    void set_enabled(std::size_t process, bool enabled);
    /// Submits all lists without the process's channels, or with them again.
    void set_listed(std::size_t process, bool listed);

    // --- time ---

    [[nodiscard]] Ns now() const;
    /// Lets time pass until an operation ends, or until a time. Returns the operations that have
    /// ended since the last call, or none if the time has come first.
    std::vector<std::size_t> advance(Ns until);
    /// Lets time pass until an operation has ended or the time has come. Returns whether the
    /// operation has ended.
    bool wait(std::size_t operation, Ns until);

    // --- results ---

    /// Returns an operation. While it executes, the end of its last interval is `never`; the bytes
    /// of a copy on the graphics engine are 0 until then.
    [[nodiscard]] const Operation &operation(std::size_t operation) const;
    [[nodiscard]] bool done(std::size_t operation) const;
    [[nodiscard]] std::size_t operations() const;
    /// The SMs that a process may use: all, or those of its MPS partition.
    [[nodiscard]] std::span<const unsigned> sms(std::size_t process) const;
    /// The TSGs in which the process has channels: indices into gpu().plan().tsgs. TSGs of an MPS
    /// server belong to its clients as well.
    [[nodiscard]] std::vector<std::size_t> tsgs(std::size_t process) const;
    /// The channels of the process: indices into gpu().plan().channels.
    [[nodiscard]] std::vector<std::size_t> channels(std::size_t process) const;
    /// Returns the busy bit of the engine's status register.
    [[nodiscard]] bool busy(EngineName engine) const;

  private:
    class Machine;
    std::unique_ptr<Machine> machine_;
};

} // namespace nvmodel
