// SPDX-License-Identifier: MIT OR GPL-2.0
// The Host scheduler: runlists, TSGs and channels, PBDMAs and engines, in virtual time.
//
// Host has no registers: blocks/ translate accesses to these calls. It is deterministic. Between
// events only the amount of work done changes, so time is advanced from event to event; queries are
// answered for now(). The rules and their sources are in docs/model.md, "How the model works".
#pragma once

#include "base/time.hpp"
#include "board/board.hpp"
#include "host/channels.hpp"
#include "host/context.hpp"
#include "host/context_listener.hpp"
#include "host/group.hpp"
#include "host/pbdma.hpp"
#include "host/switch_time.hpp"
#include "memory/memory.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <vector>

namespace nvmodel {

/// The speed of a copy engine: 1 if it has its physical copy engines to itself, less if other
/// running engines share them, 0 if it has none.
class CopyThroughput {
  public:
    virtual ~CopyThroughput() = default;
    /// In `running` bit n is set if LCE n is running.
    [[nodiscard]] virtual double share(unsigned lce, std::uint32_t running) const = 0;
};

/// An engine that Host drives.
struct Engine {
    EngineRow row;
    unsigned runlist = 0;
    ContextSlot context;
    std::vector<std::size_t> channels;        // indices of channels with work on it
    std::optional<std::size_t> instance;      // channel with the instance block of the context
    std::optional<std::size_t> next_instance; // the channel of the context that is being loaded
    double rate = 1;                          // work per time of all channels together

    [[nodiscard]] bool busy() const { return !channels.empty() || context.changing(); }
};

/// Rules that can be broken, so that tests can show that they detect it.
struct HostRules {
    bool disabled_stop = true; // a disabled channel stops; broken: ENABLE is only a bit
    bool unlisted_stop = true; // broken: a TSG that has left a list keeps its turn
    bool timeslices = true;    // broken: timeslices never end
};

enum class Preempting : std::uint8_t { none, tsg, runlist };

struct Runlist {
    unsigned id = 0;
    std::vector<unsigned> pbdmas;  // numbers, in runqueue order
    std::vector<unsigned> engines; // indices, in slot order

    // State as submitted.
    PhysicalAddress base;
    unsigned length = 0; // entries
    unsigned offset = 0; // first entry
    Ns fetched_at = never;

    // State as fetched.
    std::vector<Group> groups;
    BadTsg bad = BadTsg::none;
    std::size_t cursor = 0;

    // Present state.
    std::optional<std::size_t> current; // index of the group that has the turn
    Ns switched_at = never;             // the end of a switch that is under way
    Ns slice_left = 0;                  // rest of the slice, while switching
    Ns slice_end = never;               // end of the slice, while running
    bool gated = false;
    bool list_waits = false; // a list was fetched during a switch
    Preempting preempting = Preempting::none;
    std::vector<std::pair<Preempting, GroupId>> preempts_waiting; // requested during a switch
    bool tsg_preempt_flag = false; // a TSG preempt was requested, and none was done since

    // The group that the last submit cut off.
    std::optional<unsigned> preempted_tsg;
    unsigned preempted_entry = 0;

    // Interrupt status, set by Host and cleared through registers.
    bool intr_tsg_preempt_complete = false;
    bool intr_runlist_preempt_complete = false;
    bool intr_bad_tsg = false;

    [[nodiscard]] bool submit_pending() const { return fetched_at != never || list_waits; }
    [[nodiscard]] bool switching() const { return switched_at != never; }
    /// Returns whether a preempt of this kind is under way or waits.
    [[nodiscard]] bool preempt_outstanding(Preempting kind) const;
};

class Host {
  public:
    Host(const Board &board, const Memory &memory, const CopyThroughput &copies);

    /// `listener` (not owned) is called for switches of graphics contexts.
    void listen(ContextListener &listener) { listener_ = &listener; }
    /// `times` (not owned) gives the durations of changes of context; without it they take the
    /// board's time.
    void time_switches_by(SwitchTime &times) { switch_times_ = &times; }
    void keep_to(const HostRules &rules) { rules_ = rules; }

    // --- time ---
    [[nodiscard]] Ns now() const { return now_; }
    /// Lets time pass.
    void advance(Ns by);
    /// Lets time pass until no submitted list is pending.
    void wait_for_lists();
    /// Returns the next time, as far as is known now, when more than the amount of work done
    /// changes.
    [[nodiscard]] Ns next_event() const;

    // --- state ---
    [[nodiscard]] const std::vector<Runlist> &runlists() const { return runlists_; }
    [[nodiscard]] const std::vector<Engine> &engines() const { return engines_; }
    [[nodiscard]] const std::vector<Pbdma> &pbdmas() const { return pbdmas_; }
    [[nodiscard]] Runlist *find_runlist(unsigned id);
    [[nodiscard]] const Runlist *find_runlist(unsigned id) const;
    /// The engine with this Host engine id.
    [[nodiscard]] const Engine *find_engine(unsigned engine_id) const;
    [[nodiscard]] std::optional<unsigned> engine_index(EngineName name) const;

    /// The index of channel `id`; `runlist` matters only where ids are per runlist.
    [[nodiscard]] std::optional<std::size_t> channel_index(unsigned runlist, unsigned id) const;
    [[nodiscard]] unsigned channel_id(std::size_t index) const {
        return static_cast<unsigned>(index % board_.channels);
    }
    [[nodiscard]] const Channel &channel(std::size_t index) const { return channels_[index]; }

    /// Returns whether the runlist has no list to run, or nothing on it can run.
    [[nodiscard]] bool runlist_idle(const Runlist &runlist) const;
    [[nodiscard]] bool engines_idle(const Runlist &runlist) const;
    [[nodiscard]] bool acquire_still_pending(const Runlist &runlist) const;

    // --- commands of software ---
    void submit(Runlist &runlist, PhysicalAddress base, unsigned length, unsigned offset);
    void set_gate(Runlist &runlist, bool closed);
    void preempt(Runlist &runlist, GroupId group);
    /// Preempts a group on all runlists, for ids that are global.
    void preempt_everywhere(GroupId group);
    /// Preempts the group that holds a channel (global ids).
    void preempt_channel(unsigned id);
    void preempt_runlist(Runlist &runlist);

    void set_enabled(std::size_t index, bool enabled);
    void set_next(std::size_t index, bool next) { channels_[index].next = next; }
    void set_ctx_reload(std::size_t index, bool reload) { channels_[index].ctx_reload = reload; }
    void set_pending(std::size_t index, bool pending) { channels_[index].pending = pending; }
    void set_acquire_fail(std::size_t index, bool f) { channels_[index].acquire_fail = f; }
    void set_faulted(std::size_t index, std::optional<bool> pbdma, std::optional<bool> engine);
    void set_own_runlist(std::size_t index, unsigned id) { channels_[index].own_runlist = id; }
    void bind(std::size_t index, PhysicalAddress instance, std::uint32_t target, bool bound);
    void set_userd(std::size_t index, PhysicalAddress userd) { channels_[index].userd = userd; }
    /// Announces that the channel has (or may have) work.
    void ring(std::size_t index);

    /// Gives a channel its work without announcing it (see ring()).
    void queue_work(std::size_t index, QueuedWork work);
    /// Sets whether the channel has work from now on, and announces that.
    void set_busy(std::size_t index, bool busy);

    /// Ends a change of context with an open end at this time.
    void end_switch(Runlist &runlist, Ns at);

    /// Computes the speeds of copy engines again, because the copy wiring changed.
    void update_rates();

  private:
    struct Timer {
        Ns at;
        std::uint64_t order; // the timer that was armed first goes first
        std::size_t channel;
        bool operator>(const Timer &other) const {
            return at != other.at ? at > other.at : order > other.order;
        }
    };
    using Evict = std::function<bool(GroupId)>;

    // host.cpp: events
    void run_until(Ns time);
    void process_events();
    void account(Ns to);
    void turn_pbdmas();
    [[nodiscard]] Ns next_completion(const Engine &engine) const;
    void complete_work();
    void fire_timers();
    void arm_timer(std::size_t channel, Ns at);

    // schedule.cpp: the next group, and the change-over to it
    [[nodiscard]] bool enabled(const Channel &channel) const {
        return channel.enabled || !rules_.disabled_stop;
    }
    [[nodiscard]] Ns switch_time(const Runlist &runlist) const;
    void keep_unlisted(Runlist &runlist, const std::vector<Group> &before) const;
    [[nodiscard]] bool serviceable(const Channel &channel) const;
    [[nodiscard]] bool serviceable(const Runlist &runlist, const Group &group) const;
    std::optional<std::size_t> select(Runlist &runlist, std::size_t from);
    void evaluate(Runlist &runlist);
    void end_slice(Runlist &runlist);
    void leave_if_exhausted(Runlist &runlist);
    void switch_to(Runlist &runlist, std::optional<std::size_t> next, Ns slice,
                   const Evict &evict = nullptr);
    bool change_engines(Runlist &runlist, const Group *next, const Evict &evict);
    bool change_pbdmas(Runlist &runlist, const Group *next);
    void finish_switch(Runlist &runlist);
    void tell_listener(const Engine &engine) const;
    void start_slice(Runlist &runlist);
    void apply_list(Runlist &runlist);
    void take_list(Runlist &runlist);
    [[nodiscard]] DecodedList fetch_list(const Runlist &runlist) const;
    void learn_channels(const Runlist &runlist, Group &group);
    [[nodiscard]] Timeslice timeslice_of_instance(const PhysicalAddress &instance) const;
    void start_waiting_preempts(Runlist &runlist);
    void request_preempt(Runlist &runlist, Preempting kind, GroupId group);
    void start_preempt(Runlist &runlist, Preempting kind, GroupId group);

    // clients.cpp: channels on PBDMAs and engines
    [[nodiscard]] std::size_t index_of(const Runlist &runlist, const ListedChannel &listed) const;
    /// Returns false for entries that Host cannot act on: an id beyond the channels, a channel with
    /// work for an engine of another runlist, or a channel that Kepler's PCCSR has on another
    /// runlist.
    [[nodiscard]] bool usable(const Runlist &runlist, const ListedChannel &listed) const;
    [[nodiscard]] unsigned pbdma_for(const Runlist &runlist, const ListedChannel &listed) const;
    void admit(Runlist &runlist, const Group &group);
    void admit_late(std::size_t channel);
    void load_turn(unsigned pbdma);
    void unload_turn(unsigned pbdma);
    void next_turn(unsigned pbdma);
    void remove_client(unsigned pbdma, std::size_t channel);
    void remove_clients_of(unsigned pbdma, unsigned runlist);
    void leave_engine(std::size_t channel);
    void leave_unit(std::size_t channel);
    void take_off_groups_of(Runlist &runlist, std::size_t channel);

    [[nodiscard]] Channel *find_channel(unsigned runlist, unsigned id);

    const Board &board_;
    const Memory &memory_;
    const CopyThroughput &copies_;
    ContextListener *listener_ = nullptr;
    SwitchTime *switch_times_ = nullptr;
    HostRules rules_;
    Ns now_ = 0;
    std::uint64_t timer_order_ = 0;
    std::vector<Runlist> runlists_;
    std::vector<Engine> engines_;
    std::vector<Pbdma> pbdmas_;
    Channels channels_;
    std::priority_queue<Timer, std::vector<Timer>, std::greater<>> timers_;
};

} // namespace nvmodel
