// SPDX-License-Identifier: MIT OR GPL-2.0
#include "programs/machine.hpp"

#include "programs/copy_speed.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace nvmodel {
namespace {

constexpr unsigned sms_per_tpc = 2; // on all boards from Volta on
/// Distance between the ranges of SM numbers that two MPS clients read.
constexpr unsigned told_apart = 27;
constexpr unsigned told_first = 9;
constexpr Ns list_turn_ns = 1024 * 1024;

unsigned sm_count(const Board &board) {
    unsigned tpcs = 0;
    for (const unsigned count : board.geometry.live_tpcs())
        tpcs += count;
    return tpcs * sms_per_tpc;
}

} // namespace

Programs::Machine::Machine(const Board &board, std::vector<Process> processes, const Rules &rules)
    : rules_(rules), processes_(std::move(processes)), made_(workload_of(processes_, rules_)),
      gpu_(board, made_.workload) {
    gpu_.host().keep_to({.disabled_stop = rules_.disabled_stop,
                         .unlisted_stop = rules_.unlisted_stop,
                         .timeslices = rules_.timeslices});
    gpu_.host().time_switches_by(*this);
    gpu_.start();
    const unsigned sms = sm_count(board);
    divide_sms(sms);
    build_channels();
    build_contexts(sms);
    settle(gpu_.now());
}

Programs::Machine::~Machine() = default;

/// Makes MPS partitions of whole TPCs. TPCs of the fewest clients are taken first.
void Programs::Machine::divide_sms(unsigned sms) {
    std::vector<unsigned> users(sms / sms_per_tpc);
    for (const Process &process : processes_) {
        std::vector<unsigned> &mine = sms_.emplace_back();
        const bool part =
            !process.mps_server.empty() && process.percentage < 100 && rules_.mps_partitions;
        const std::size_t tpcs =
            part ? std::max(1UL, users.size() * process.percentage / 100) : users.size();
        std::vector<unsigned> order(users.size());
        for (unsigned tpc = 0; tpc < order.size(); ++tpc)
            order[tpc] = tpc;
        std::ranges::stable_sort(order, {}, [&](unsigned tpc) { return part ? users[tpc] : 0; });
        order.resize(tpcs);
        std::ranges::sort(order);
        for (const unsigned tpc : order) {
            users[tpc] += part ? 1 : 0;
            for (unsigned i = 0; i < sms_per_tpc; ++i)
                mine.push_back(tpc * sms_per_tpc + i);
        }
    }
}

void Programs::Machine::build_channels() {
    const Plan &plan = gpu_.plan();
    const Host &host = gpu_.host();
    for (std::size_t i = 0; i < plan.channels.size(); ++i) {
        const PlannedChannel &planned = plan.channels[i];
        Channel &channel = channels_.emplace_back();
        channel.of = made_.channels[i];
        channel.index = *host.channel_index(planned.runlist, planned.id);
        channel.tsg = *planned.tsg;
        channel.engine = *host.engine_index(planned.engine);
        if (planned.engine.type == EngineType::lce)
            lces_[channel.engine];
    }
}

void Programs::Machine::build_contexts(unsigned sms) {
    std::map<std::size_t, std::vector<std::size_t>> members; // processes by TSG
    for (Channel &channel : channels_) {
        if (channel.of.use != ChannelUse::compute)
            continue;
        std::vector<std::size_t> &all = members[channel.tsg];
        const auto found = std::ranges::find(all, *channel.of.process);
        channel.subcontext = static_cast<std::size_t>(found - all.begin());
        if (found == all.end())
            all.push_back(*channel.of.process);
    }
    unsigned clients = 0;
    for (const auto &[tsg, all] : members) {
        std::vector<Subcontext> subcontexts;
        for (const std::size_t process : all) {
            Subcontext one{sms_[process], 0};
            if (!processes_[process].mps_server.empty() && rules_.mps_sm_numbers)
                one.shift = (told_first + sms * told_apart - told_apart * clients++) % sms;
            subcontexts.push_back(std::move(one));
        }
        const std::size_t any = gpu_.plan().tsgs[tsg].channels.front();
        contexts_.emplace(
            tsg, Context{Compute(sms, std::move(subcontexts)), channels_[any].engine, all});
    }
}

// --- commands of programs and of the driver ---

/// Returns which of a process's channels takes an operation.
ChannelUse Programs::Machine::use_of(const Operation &operation) const {
    const Process &process = processes_[operation.process];
    const bool by_gr = process.api != Api::cuda && process.copies == GraphicsCopies::by_gr;
    if (operation.kernel || by_gr || operation.copy->direction == Direction::on_gpu)
        return ChannelUse::compute;
    return operation.copy->direction == Direction::to_gpu ? ChannelUse::to_gpu
                                                          : ChannelUse::to_host;
}

std::size_t Programs::Machine::open_stream(std::size_t process) {
    Stream stream{.process = process, .channels = {}, .last = {}};
    const auto number =
        static_cast<std::size_t>(std::ranges::count(streams_, process, &Stream::process));
    std::map<ChannelUse, std::vector<std::size_t>> all;
    for (std::size_t i = 0; i < channels_.size(); ++i)
        if (channels_[i].of.process == process)
            all[channels_[i].of.use].push_back(i);
    for (const auto &[use, channels] : all)
        stream.channels[use] = channels[number % channels.size()];
    streams_.push_back(std::move(stream));
    return streams_.size() - 1;
}

std::size_t Programs::Machine::append(std::size_t stream, Operation operation) {
    Stream &its = streams_.at(stream);
    operation.process = its.process;
    operation.stream = stream;
    operation.submitted = gpu_.now();
    const std::size_t number = operations_.size();
    const std::size_t channel = its.channels.at(use_of(operation));
    operations_.push_back(std::move(operation));
    before_.push_back(std::exchange(its.last, number));
    channel_of_.push_back(channel);
    channels_[channel].lanes[stream_key(stream)].waiting.push_back(number);
    reconcile();
    return number;
}

std::vector<std::size_t> Programs::Machine::channels_of(std::size_t process) const {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < channels_.size(); ++i)
        if (channels_[i].of.process == process)
            found.push_back(i);
    return found;
}

std::vector<std::size_t> Programs::Machine::tsgs(std::size_t process) const {
    std::vector<std::size_t> found;
    for (const std::size_t channel : channels_of(process))
        if (found.empty() || found.back() != channels_[channel].tsg)
            found.push_back(channels_[channel].tsg);
    return found;
}

void Programs::Machine::set_preemption(std::size_t process, ComputePreemption mode) {
    for (const auto &[tsg, context] : contexts_)
        if (std::ranges::find(context.processes, process) != context.processes.end())
            gpu_.driver().set_compute_preemption(tsg, mode);
}

void Programs::Machine::set_enabled(std::size_t process, bool enabled) {
    gpu_.driver().set_enabled(channels_of(process), enabled);
    reconcile();
}

void Programs::Machine::set_listed(std::size_t process, bool listed) {
    gpu_.driver().set_listed(channels_of(process), listed);
    reconcile();
}

// --- time ---

/// Accounts for all work up to this time, in the contexts that work now.
void Programs::Machine::settle(Ns to) {
    for (auto &[tsg, context] : contexts_)
        context.compute.advance(to, ended_);
    for (auto &[engine, lce] : lces_)
        lce.copies.advance(to, ended_);
}

Ns Programs::Machine::next_end() const {
    Ns next = list_until_;
    for (const auto &[tsg, context] : contexts_)
        next = std::min(next, context.compute.next_end());
    for (const auto &[engine, lce] : lces_)
        next = std::min(next, lce.copies.next_end());
    return next;
}

std::vector<std::size_t> Programs::Machine::advance(Ns until) {
    until = std::max(until, gpu_.now());
    do
        step(until);
    while (finished_.empty() && gpu_.now() < until);
    return std::exchange(finished_, {});
}

void Programs::Machine::step(Ns until) {
    const Ns next = std::max(gpu_.now(), std::min({until, gpu_.host().next_event(), next_end()}));
    settle(next);
    gpu_.advance(next - gpu_.now());
    reconcile();
}

/// Takes operations that have ended out of their channels.
void Programs::Machine::finish() {
    for (const std::size_t number : ended_) {
        Channel &channel = channels_[channel_of_[number]];
        if (channel.of.use == ChannelUse::compute)
            --channel.taken;
        else
            channel.lanes.at(stream_key(operations_[number].stream)).waiting.pop_front();
        finished_.push_back(number);
    }
    ended_.clear();
}

/// Finds the working contexts after a change. Informing Host may change these again.
void Programs::Machine::reconcile() {
    do {
        settle(gpu_.now());
        finish();
        end_drain();
        choose_list();
        run_contexts();
        take_kernels();
        run_copies();
    } while (tell_host());
}

/// Returns the time of a change of context. Host asks for it in the middle of its event, so earlier
/// work is brought up to the event first.
Ns Programs::Machine::of(const Engine &engine) {
    settle(gpu_.now());
    if (engine.row.name.type != EngineType::gr) {
        const auto lce = lces_.find(*gpu_.host().engine_index(engine.row.name));
        if (lce != lces_.end())
            lce->second.copies.set_current({}, 0);
        return rules_.switch_costs ? copy_switch_ns : gpu_.board().timing.context_switch;
    }
    const ContextStatus &status = engine.context.status();
    const auto from = status.state == ContextState::load
                          ? std::nullopt
                          : context_of(engine.runlist, status.current);
    const auto to =
        status.state == ContextState::save ? std::nullopt : context_of(engine.runlist, status.next);
    if (!from || takes_no_turns(*from))
        return switch_time({}, to);
    Context &leaving = contexts_.at(*from);
    const ComputePreemption mode =
        rules_.preemption_modes ? gpu_.driver().compute_preemption(*from) : ComputePreemption::cilp;
    if (leaving.compute.executing() && must_drain(leaving.compute, mode)) {
        leaving.compute.set_placing(mode == ComputePreemption::wfi);
        drain_ = {*from, to, mode};
        return SwitchTime::open;
    }
    leaving.compute.set_executing(false);
    return switch_time(leaving.compute.held(), to);
}

std::optional<std::size_t> Programs::Machine::context_of(unsigned runlist, GroupId id) const {
    for (const auto &[tsg, context] : contexts_)
        if (gpu_.plan().tsgs[tsg].runlist == runlist &&
            GroupId{true, gpu_.plan().tsgs[tsg].id} == id)
            return tsg;
    return std::nullopt;
}

Ns Programs::Machine::switch_time(const Held &saved, std::optional<std::size_t> to) const {
    if (!rules_.switch_costs)
        return gpu_.board().timing.context_switch;
    const Held loaded = to ? contexts_.at(*to).compute.held() : Held{};
    return save_or_load_time(saved) + save_or_load_time(loaded);
}

/// Returns whether a change of context must wait: with CTA for blocks on SMs, with WFI for all work
/// that was begun.
bool Programs::Machine::must_drain(const Compute &compute, ComputePreemption mode) {
    switch (mode) {
    case ComputePreemption::cilp:
        return false;
    case ComputePreemption::cta:
        return compute.occupied();
    case ComputePreemption::wfi:
        return compute.busy();
    }
    return false;
}

void Programs::Machine::end_drain() {
    if (!drain_)
        return;
    Compute &compute = contexts_.at(drain_->from).compute;
    if (must_drain(compute, drain_->mode))
        return;
    compute.set_executing(false);
    compute.set_placing(true);
    Host &host = gpu_.host();
    host.end_switch(*host.find_runlist(gpu_.plan().tsgs[drain_->from].runlist),
                    host.now() + switch_time(compute.held(), drain_->to));
    drain_.reset();
}

/// Breaks R5: runlists with work take turns of a millisecond.
void Programs::Machine::choose_list() {
    if (rules_.lists_independent)
        return;
    std::set<unsigned> working;
    for (const Channel &channel : channels_)
        if (has_work(channel))
            working.insert(gpu_.plan().tsgs[channel.tsg].runlist);
    if (list_ && working.contains(*list_) && gpu_.now() < list_until_)
        return;
    list_until_ = never;
    if (working.empty())
        return;
    const auto next = list_ ? working.upper_bound(*list_) : working.begin();
    list_ = next != working.end() ? *next : *working.begin();
    list_until_ = gpu_.now() + list_turn_ns;
}

/// Returns whether a broken rule lets the TSG execute while another one has the engine.
bool Programs::Machine::takes_no_turns(std::size_t tsg) const {
    if (!rules_.one_task)
        return true;
    const auto context = contexts_.find(tsg);
    return !rules_.graphics_turns && context != contexts_.end() &&
           processes_[context->second.processes.front()].api != Api::cuda;
}

bool Programs::Machine::may_run(std::size_t tsg, unsigned engine) const {
    const PlannedTsg &planned = gpu_.plan().tsgs[tsg];
    if (!rules_.lists_independent && list_ && *list_ != planned.runlist)
        return false;
    if (takes_no_turns(tsg))
        return std::ranges::any_of(planned.channels, [this](std::size_t channel) {
            return schedulable(channels_[channel]);
        });
    if (drain_ && drain_->from == tsg)
        return true;
    return gpu_.chip().host().engines()[engine].context.holds() == GroupId{true, planned.id};
}

/// Returns whether the channel is enabled and on its list, as far as these rules are kept.
bool Programs::Machine::schedulable(const Channel &channel) const {
    const Host &host = gpu_.chip().host();
    if (rules_.disabled_stop && !host.channel(channel.index).enabled)
        return false;
    const PlannedTsg &tsg = gpu_.plan().tsgs[channel.tsg];
    for (const Group &group : host.find_runlist(tsg.runlist)->groups)
        for (const ListedChannel &listed : group.channels)
            if (host.channel_index(tsg.runlist, listed.id) == channel.index)
                return true;
    return false;
}

void Programs::Machine::run_contexts() {
    for (auto &[tsg, context] : contexts_)
        context.compute.set_executing(may_run(tsg, context.engine));
}

/// Returns whether a channel's next kernel can be taken: the previous one must be placed as a
/// whole.
bool Programs::Machine::ready(const Channel &channel, const Lane &lane) const {
    if (lane.waiting.empty())
        return false;
    const auto before = before_[lane.waiting.front()];
    if (before && !operations_[*before].done())
        return false;
    return channel.of.use != ChannelUse::compute || !lane.last ||
           operations_[*lane.last].dispatched != never;
}

bool Programs::Machine::has_work(const Channel &channel) const {
    return channel.taken > 0 || std::ranges::any_of(channel.lanes, [&](const auto &lane) {
               return ready(channel, lane.second);
           });
}

Ns Programs::Machine::time_of(const Operation &operation) const {
    if (operation.kernel)
        return operation.kernel->block;
    const CopySpeed speed = processes_[operation.process].api == Api::cuda
                                ? cuda_copy_speed(operation.copy->direction)
                                : graphics_copy_speed(operation.copy->direction);
    return static_cast<Ns>(speed.setup_ns +
                           static_cast<double>(operation.copy->bytes) / speed.bytes_per_ns);
}

/// Takes kernels at once from all channels, whichever channel Host shows on the PBDMA. A channel
/// leaves the PBDMA when it has nothing to hand over, though its kernels execute.
void Programs::Machine::take_kernels() {
    for (Channel &channel : channels_) {
        if (channel.of.use != ChannelUse::compute)
            continue;
        Compute &compute = contexts_.at(channel.tsg).compute;
        if (!compute.executing() || (drain_ && drain_->from == channel.tsg) || !has_work(channel) ||
            !schedulable(channel))
            continue;
        for (auto &[stream, lane] : channel.lanes)
            while (ready(channel, lane)) {
                const std::size_t number = lane.waiting.front();
                lane.waiting.pop_front();
                lane.last = number;
                ++channel.taken;
                Operation &operation = operations_[number];
                operation.began = gpu_.now();
                compute.add(channel.subcontext, number, operation, time_of(operation));
            }
    }
}

void Programs::Machine::run_copies() {
    for (auto &[engine, lce] : lces_) {
        const double rate = rules_.shared_pces ? gpu_.host().engines()[engine].rate : 1;
        lce.copies.set_current(current_copies(engine, lce), rate);
    }
}

/// Returns the copies of an engine that progress. A copy engine stays with a channel until nothing
/// is left in the channel, even if other TSGs have their turns in between.
std::vector<CopyEngine::Current> Programs::Machine::current_copies(unsigned engine, Lce &lce) {
    std::map<std::size_t, std::vector<std::size_t>> waiting; // channels by TSG
    for (std::size_t i = 0; i < channels_.size(); ++i) {
        const Channel &channel = channels_[i];
        if (channel.engine == engine && has_work(channel) && may_run(channel.tsg, engine) &&
            schedulable(channel))
            waiting[channel.tsg].push_back(i);
    }
    std::vector<CopyEngine::Current> current;
    for (auto &[tsg, all] : waiting) {
        if (rules_.copy_queues) {
            const auto [owner, is_new] = lce.owners.try_emplace(tsg, all.front());
            auto chosen = std::ranges::lower_bound(all, owner->second);
            owner->second = chosen != all.end() ? *chosen : all.front();
            all = {owner->second};
        }
        for (const std::size_t channel : all)
            for (const auto &[stream, lane] : channels_[channel].lanes)
                if (ready(channels_[channel], lane)) {
                    const std::size_t number = lane.waiting.front();
                    current.push_back({number, &operations_[number]});
                }
    }
    return current;
}

/// Informs Host which channels have work. Returns whether that has changed. Channels that have got
/// work come first, so that Host does not leave a TSG that still has work.
bool Programs::Machine::tell_host() {
    bool news = false;
    for (const bool busy : {true, false})
        for (Channel &channel : channels_)
            if (channel.busy != busy && has_work(channel) == busy) {
                channel.busy = busy;
                gpu_.host().set_busy(channel.index, busy);
                news = true;
            }
    return news;
}

} // namespace nvmodel
