// SPDX-License-Identifier: MIT OR GPL-2.0
// Carries out Programs: goes from event to event of Host and of the engines' work.
#pragma once

#include "programs/compute.hpp"
#include "programs/copy_engine.hpp"
#include "programs/process_workload.hpp"
#include "programs/programs.hpp"

#include <deque>
#include <map>
#include <optional>
#include <vector>

namespace nvmodel {

class Programs::Machine final : public SwitchTime {
  public:
    Machine(const Board &board, std::vector<Process> processes, const Rules &rules);
    ~Machine() override;

    std::size_t open_stream(std::size_t process);
    std::size_t append(std::size_t stream, Operation operation);
    std::vector<std::size_t> advance(Ns until);

    void set_preemption(std::size_t process, ComputePreemption mode);
    void set_enabled(std::size_t process, bool enabled);
    void set_listed(std::size_t process, bool listed);

    [[nodiscard]] Ns of(const Engine &engine) override;

    [[nodiscard]] Gpu &gpu() { return gpu_; }
    [[nodiscard]] const Gpu &gpu() const { return gpu_; }
    [[nodiscard]] const std::vector<Process> &processes() const { return processes_; }
    [[nodiscard]] const std::deque<Operation> &operations() const { return operations_; }
    [[nodiscard]] const std::vector<unsigned> &sms(std::size_t process) const {
        return sms_.at(process);
    }
    [[nodiscard]] std::vector<std::size_t> tsgs(std::size_t process) const;
    [[nodiscard]] std::vector<std::size_t> channels_of(std::size_t process) const;

  private:
    /// A queue of a channel that is taken in order. A channel has one; if R2 is broken, it has one
    /// for each stream.
    struct Lane {
        std::deque<std::size_t> waiting;
        std::optional<std::size_t> last; // the operation taken last
    };
    struct Channel {
        ProcessChannel of;
        std::size_t index = 0;             // Host's index
        std::size_t tsg = 0;               // index in the plan
        unsigned engine = 0;               // Host's index
        std::size_t subcontext = 0;        // index into Compute's
        std::map<std::size_t, Lane> lanes; // by stream; 0 if R2 is kept
        unsigned taken = 0;                // operations that were taken and have not ended
        bool busy = false;                 // as Host was last informed
    };
    struct Stream {
        std::size_t process;
        std::map<ChannelUse, std::size_t> channels; // indices into channels_
        std::optional<std::size_t> last;            // the last operation
    };
    struct Context {
        Compute compute;
        unsigned engine;                    // Host's index
        std::vector<std::size_t> processes; // in the order of subcontexts
    };
    struct Lce {
        CopyEngine copies;
        std::map<std::size_t, std::size_t> owners; // by TSG: the channel that the engine stays with
    };
    /// A change of context that waits for blocks or kernels, with its TSGs.
    struct Drain {
        std::size_t from;
        std::optional<std::size_t> to;
        ComputePreemption mode;
    };

    void divide_sms(unsigned sms);
    void build_channels();
    void build_contexts(unsigned sms);
    [[nodiscard]] ChannelUse use_of(const Operation &operation) const;

    void settle(Ns to);
    [[nodiscard]] Ns next_end() const;
    void step(Ns until);
    void reconcile();
    void finish();
    void end_drain();
    void choose_list();
    [[nodiscard]] std::optional<std::size_t> context_of(unsigned runlist, GroupId id) const;
    [[nodiscard]] Ns switch_time(const Held &saved, std::optional<std::size_t> to) const;
    [[nodiscard]] static bool must_drain(const Compute &compute, ComputePreemption mode);
    [[nodiscard]] Ns time_of(const Operation &operation) const;
    [[nodiscard]] bool takes_no_turns(std::size_t tsg) const;
    [[nodiscard]] bool schedulable(const Channel &channel) const;
    [[nodiscard]] bool may_run(std::size_t tsg, unsigned engine) const;
    void run_contexts();
    void take_kernels();
    void run_copies();
    bool tell_host();
    [[nodiscard]] bool ready(const Channel &channel, const Lane &lane) const;
    [[nodiscard]] bool has_work(const Channel &channel) const;
    [[nodiscard]] std::vector<CopyEngine::Current> current_copies(unsigned engine, Lce &lce);
    [[nodiscard]] std::size_t stream_key(std::size_t stream) const {
        return rules_.channels_limit ? 0 : stream;
    }

    Rules rules_;
    std::vector<Process> processes_;
    ProcessWorkload made_;
    Gpu gpu_;
    std::vector<Channel> channels_; // in the plan's order
    std::vector<Stream> streams_;
    std::deque<Operation> operations_;               // they do not move in memory
    std::vector<std::optional<std::size_t>> before_; // the previous one in the same stream
    std::vector<std::size_t> channel_of_;            // of each operation
    std::vector<std::vector<unsigned>> sms_;         // of each process
    std::map<std::size_t, Context> contexts_;        // by TSG
    std::map<unsigned, Lce> lces_;                   // by engine
    std::optional<Drain> drain_;
    std::optional<unsigned> list_; // R5 broken: the list that has the turn
    Ns list_until_ = never;
    std::vector<std::size_t> ended_;    // they are still in their channels
    std::vector<std::size_t> finished_; // since the last advance()
};

} // namespace nvmodel
