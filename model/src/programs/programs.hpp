// SPDX-License-Identifier: MIT OR GPL-2.0
// Programs on the modelled GPU, in virtual time: streams of kernels and copies over channels,
// blocks over SMs, copies over copy engines. Host (host/) gives engines to TSGs; this is
// what engines do with it. Deterministic, from event to event. The rules, each with its source, are
// in docs/model.md, "Programs".
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

/// Processes, streams and operations are named by numbers from 0 on, in the order of their making.
class Programs {
  public:
    /// A GPU on which these processes have just been started; all of them stay until the end.
    /// Throws ConfigError if the board has no room for them or lacks an engine that they use.
    Programs(const Board &board, std::vector<Process> processes, const Rules &rules = {});
    ~Programs();
    Programs(const Programs &) = delete;
    Programs &operator=(const Programs &) = delete;

    /// The GPU below: its registers, lists and channels. An access to a BAR takes time, and
    /// what happens in it is noticed afterwards, unless the fault freeze-after is set.
    [[nodiscard]] Gpu &gpu();
    [[nodiscard]] const Gpu &gpu() const;
    [[nodiscard]] const Process &process(std::size_t process) const;

    // --- what programs do; each takes no time ---

    /// Returns the stream's number. A process's streams get its channels in turn.
    std::size_t open_stream(std::size_t process);
    /// Appends to a stream; returns the operation's number. Throws ConfigError if a block does not
    /// fit on an SM, or if there is nothing to do (no blocks, no bytes).
    std::size_t launch(std::size_t stream, const Kernel &kernel);
    std::size_t copy(std::size_t stream, Direction direction, std::uint64_t bytes);

    // --- what the driver does for them ---

    /// From the next time on that the process's compute task loses GR0.
    void set_preemption(std::size_t process, ComputePreemption mode);
    /// All channels of a process, on all runlists. Disabling takes its tasks off their engines.
    void set_enabled(std::size_t process, bool enabled);
    /// Submits all lists without the process's channels, or with them again.
    void set_listed(std::size_t process, bool listed);

    // --- time ---

    [[nodiscard]] Ns now() const;
    /// Lets time pass until an operation ends, or until a time. Returns the operations that have
    /// ended since the last call: none if the time has come first.
    std::vector<std::size_t> advance(Ns until);
    /// Lets time pass until an operation has ended or the time has come; true if it has ended.
    bool wait(std::size_t operation, Ns until);

    // --- what came of it ---

    /// Of what executes now the last interval's end is `never`; of copies on the graphics engine
    /// its bytes are 0 until then.
    [[nodiscard]] const Operation &operation(std::size_t operation) const;
    [[nodiscard]] bool done(std::size_t operation) const;
    [[nodiscard]] std::size_t operations() const;
    /// SMs that a process may use: all, or its MPS partition's.
    [[nodiscard]] std::span<const unsigned> sms(std::size_t process) const;
    /// TSGs that the process has channels in: indices into gpu().plan().tsgs. Those of an MPS
    /// server's are its clients' as well.
    [[nodiscard]] std::vector<std::size_t> tsgs(std::size_t process) const;
    /// Channels that the process has: indices into gpu().plan().channels.
    [[nodiscard]] std::vector<std::size_t> channels(std::size_t process) const;
    /// An engine does something just now: the bit of its status register.
    [[nodiscard]] bool busy(EngineName engine) const;

  private:
    class Machine;
    std::unique_ptr<Machine> machine_;
};

} // namespace nvmodel
