// SPDX-License-Identifier: MIT OR GPL-2.0
#include "machine.hpp"

#include <algorithm>
#include <utility>

namespace simulation {

Machine::Machine(const Scenario &scenario, Controller *controller, Observer *observer)
    : scenario_(scenario), controller_(controller), observer_(observer), kills_(scenario.kills),
      requests_(scenario.gpus.nodes, Requests(scenario.gpus.request)), measures_{
                                                                           .begin = scenario.warmup,
                                                                           .end = scenario.duration,
                                                                           .jobs = {}} {
    for (std::size_t n = 0; n < scenario.gpus.count; n++)
        gpus_.emplace_back(Host(scenario.gpus));
    for (std::size_t job = 0; job < scenario.jobs.size(); job++)
        add_job(job);
    std::ranges::stable_sort(kills_, std::ranges::greater(), &Kill::at);
    agenda_.emplace(controller_slot() + 1);
    for (std::size_t n = 0; n < members_.size(); n++)
        agenda_->set(n, members_[n].process.due());
    agenda_->set(kill_slot(), kills_.empty() ? never : kills_.back().at);
    if (!controller)
        return;
    std::vector<Task> tasks;
    for (const Member &member : members_)
        tasks.push_back({member.job, member.gpu});
    controller->begin(tasks);
    agenda_->set(controller_slot(), controller->due());
}

void Machine::add_job(std::size_t job) {
    const Job &one = scenario_.jobs[job];
    Group &group = groups_.emplace_back(
        Group{Collectives(one.ranks()), Arrivals(one, scenario_.seed), {}, {}});
    if (one.engine)
        group.engine.emplace(*one.engine, scenario_.seed, one.name);
    for (std::size_t rank = 0; rank < one.ranks(); rank++) {
        Gpu &gpu = gpus_[one.gpus[rank]];
        group.members.push_back(members_.size());
        gpu.members.push_back(members_.size());
        members_.push_back({job, rank, one.gpus[rank], gpu.host.add(one.timeslice_us),
                            Rank(scenario_, job, rank, group.collectives, group.arrivals,
                                 group.engine ? &*group.engine : nullptr),
                            false});
    }
    measures_.jobs.emplace_back().ranks.assign(one.ranks(),
                                               RankUse(measures_.begin, measures_.end));
}

void Machine::run_until(Ns end) {
    while (agenda_->first_time() < end) {
        now_ = std::max(now_, agenda_->first_time()); // a controller may be late
        take_next();
        settle();
    }
    now_ = end;
}

std::vector<Ns> Machine::take_times(std::size_t job) {
    return std::exchange(measures_.jobs[job].times, {});
}

Measures Machine::run() {
    run_until(scenario_.duration);
    finish();
    return measures_;
}

/// Counts the turns and waits that go on when the run ends.
void Machine::finish() {
    for (std::size_t number = 0; number < gpus_.size(); number++) {
        for (const std::size_t member : gpus_[number].members)
            finish_wait(members_[member], false);
        for (const std::size_t member : gpus_[number].members)
            count_serving(members_[member]);
        change_working(number, std::nullopt);
        change_holder(number, std::nullopt);
        count_free(gpus_[number]);
        if (auto part = gpus_[number].host.split(now_)) {
            part->tsg = gpus_[number].members[part->tsg];
            finish_turn(number, *part);
        }
    }
}

/// Shows a turn to the observer from its begin on, whatever parts of it the controller has taken.
void Machine::finish_turn(std::size_t number, const Turn &turn) {
    const Ns begin = std::exchange(gpus_[number].split_turn_begin, {}).value_or(turn.begin);
    if (observer_)
        observer_->turn(place_of(members_[turn.tsg]), begin, turn.end, turn.ends);
}

void Machine::finish_wait(Member &member, bool whole) {
    const auto since = std::exchange(member.waits_since, {});
    if (since && observer_)
        observer_->wait(place_of(member), *since, now_, whole);
}

void Machine::take_next() {
    const std::size_t slot = agenda_->first();
    if (slot < members_.size()) {
        awaited_.push_back(slot);
    } else if (slot < host_slot(0)) {
        end_collective(slot - job_slot(0));
    } else if (slot < driver_slot(0)) {
        const std::size_t gpu = slot - host_slot(0);
        gpus_[gpu].host.step(now_);
        sync(gpu);
    } else if (slot < kill_slot()) {
        serve(slot - driver_slot(0));
    } else if (slot == kill_slot()) {
        kill();
    } else {
        controller_->step(now_, *this);
        agenda_->set(slot, controller_->due());
    }
}

/// Lets members go on until none has anything to do now.
void Machine::settle() {
    while (!awaited_.empty()) {
        const std::size_t member = awaited_.front();
        awaited_.pop_front();
        advance(member);
    }
}

void Machine::advance(std::size_t number) {
    Member &member = members_[number];
    Gpu &gpu = gpus_[member.gpu];
    Group &group = groups_[member.job];
    const std::size_t passes = member.process.passes(),
                      begun = group.engine ? group.engine->begun() : 0;
    member.process.advance(now_, gpu.progressing == member.tsg);
    if (group.engine && group.engine->begun() != begun)
        awaited_.insert(awaited_.end(), group.members.begin() + 1, group.members.end());
    if (member.process.passes() != passes)
        scenario_.jobs[member.job].engine ? count_served(member) : count_passes(member.job);
    if (member.process.is_serving() != member.was_serving)
        change_serving(member);
    agenda_->set(number, member.process.due());
    agenda_->set(job_slot(member.job), groups_[member.job].collectives.end());
    const bool had_work = std::exchange(member.had_work, member.process.has_work());
    if (had_work == member.had_work)
        return;
    if (member.had_work)
        member.waits_since = now_;
    gpu.host.set_work(member.tsg, member.had_work, now_);
    sync(member.gpu);
}

void Machine::end_collective(std::size_t job) {
    Group &group = groups_[job];
    group.collectives.finish();
    agenda_->set(job_slot(job), never);
    for (const std::size_t member : group.members)
        if (gpus_[members_[member].gpu].progressing == members_[member].tsg)
            awaited_.push_back(member);
}

/// Takes note of what has changed on a GPU.
void Machine::sync(std::size_t number) {
    Gpu &gpu = gpus_[number];
    for (Turn turn : gpu.host.take_turns()) {
        turn.tsg = gpu.members[turn.tsg];
        const Member &member = members_[turn.tsg];
        measures_.jobs[member.job].ranks[member.rank].end_turn(turn.end);
        finish_turn(number, turn);
        if (controller_)
            gpu.turns.push_back(turn);
    }
    if (const auto holder = gpu.host.holder(); holder != gpu.holder)
        change_holder(number, holder);
    const auto before = std::exchange(gpu.progressing, gpu.host.progressing());
    change_working(number, gpu.progressing == gpu.holder ? gpu.holder : std::nullopt);
    if (before != gpu.progressing)
        for (const auto &tsg : {before, gpu.progressing})
            if (tsg)
                awaited_.push_back(gpu.members[*tsg]);
    agenda_->set(host_slot(number), gpu.host.due());
}

void Machine::change_holder(std::size_t number, std::optional<std::size_t> holder) {
    Gpu &gpu = gpus_[number];
    if (gpu.holder) {
        Member &member = members_[gpu.members[*gpu.holder]];
        if (member.had_work)
            member.waits_since = now_;
        measures_.jobs[member.job].ranks[member.rank].add(gpu.since, now_);
        measures_.jobs[member.job].used_while_free += free_time(gpu, gpu.since);
        count_on_gpus(member.job, false);
    }
    gpu.holder = holder;
    gpu.since = now_;
    if (!holder)
        return;
    Member &member = members_[gpu.members[*holder]];
    finish_wait(member, true);
    count_on_gpus(member.job, true);
}

void Machine::change_working(std::size_t number, std::optional<std::size_t> working) {
    Gpu &gpu = gpus_[number];
    if (gpu.working == working)
        return;
    if (observer_ && gpu.working)
        observer_->progress(place_of(members_[gpu.members[*gpu.working]]), gpu.working_since, now_);
    gpu.working = working;
    gpu.working_since = now_;
}

/// Returns how much of the time since @p since the GPU had no engine with a request.
Ns Machine::free_time(const Gpu &gpu, Ns since) const {
    if (gpu.serving > 0)
        return 0;
    return std::max<Ns>(0, now_ - std::max({since, gpu.free_since, measures_.begin}));
}

/// Counts the time in which no engine had a request, before that changes.
void Machine::count_free(Gpu &gpu) {
    if (gpu.holder)
        measures_.jobs[members_[gpu.members[*gpu.holder]].job].used_while_free +=
            free_time(gpu, gpu.since);
    for (const std::size_t member : gpu.members)
        measures_.jobs[members_[member].job].free += free_time(gpu, 0);
}

/// Takes note that an engine has requests now, or has none any more.
void Machine::change_serving(Member &member) {
    count_serving(member);
    member.serving_since = now_;
    member.was_serving = member.process.is_serving();
    Gpu &gpu = gpus_[member.gpu];
    count_free(gpu);
    member.was_serving ? gpu.serving++ : gpu.serving--;
    gpu.free_since = now_;
    if (!controller_ || !scenario_.jobs[member.job].engine->marks)
        return;
    controller_->marked(gpu.members[member.tsg], member.was_serving, now_);
    agenda_->set(controller_slot(), controller_->due());
}

void Machine::count_serving(const Member &member) {
    if (member.was_serving && member.rank == 0)
        measures_.jobs[member.job].serving +=
            std::max<Ns>(0, now_ - std::max(member.serving_since, measures_.begin));
}

void Machine::count_served(Member &member) {
    JobUse &use = measures_.jobs[member.job];
    for (ServedRequest &request : member.process.take_served()) {
        if (now_ < measures_.begin)
            continue;
        use.passes++;
        use.times.push_back(request.last - request.arrived);
        if (request.arrived >= measures_.begin)
            use.requests.push_back(std::move(request));
    }
}

void Machine::count_on_gpus(std::size_t job, bool more) {
    Group &group = groups_[job];
    if (group.on_gpus == group.members.size())
        measures_.jobs[job].together +=
            std::max<Ns>(0, now_ - std::max(group.since, measures_.begin));
    more ? group.on_gpus++ : group.on_gpus--;
    group.since = now_;
}

/// Counts the passes that have ended on all ranks that live.
void Machine::count_passes(std::size_t job) {
    Group &group = groups_[job];
    const auto has_ended = [&](std::size_t member) {
        const Rank &process = members_[member].process;
        return !process.is_alive() || process.passes() > group.passes;
    };
    for (; std::ranges::all_of(group.members, has_ended); group.passes++) {
        const Ns before = std::exchange(group.last_end, now_);
        const bool has_arrivals = scenario_.jobs[job].mean_gap > 0;
        const Ns since = has_arrivals ? group.arrivals.at(group.passes) : before;
        if (now_ < measures_.begin)
            continue;
        measures_.jobs[job].passes++;
        if (since != never)
            measures_.jobs[job].times.push_back(now_ - since);
    }
}

std::vector<Turn> Machine::take_turns(std::size_t number) {
    Gpu &gpu = gpus_[number];
    if (auto part = gpu.host.split(now_)) {
        part->tsg = gpu.members[part->tsg];
        gpu.split_turn_begin = gpu.split_turn_begin.value_or(part->begin);
        gpu.turns.push_back(*part);
    }
    return std::exchange(gpu.turns, {});
}

bool Machine::is_alive(std::size_t task) const {
    return members_[task].process.is_alive();
}

void Machine::ask(const Request &request) {
    const std::size_t node = scenario_.gpus.node_of(members_[request.task].gpu);
    requests_[node].add(request, now_);
    measures_.requests++;
    agenda_->set(driver_slot(node), requests_[node].due());
}

/// Ends the first request of a node.
void Machine::serve(std::size_t node) {
    const Request request = requests_[node].take(now_);
    agenda_->set(driver_slot(node), requests_[node].due());
    const Member &member = members_[request.task];
    simulation::serve(request, gpus_[member.gpu].host, member.tsg, now_);
    sync(member.gpu);
    settle();
    if (observer_)
        observer_->served(place_of(member), request, now_);
    controller_->served(request, now_);
    agenda_->set(controller_slot(), controller_->due());
}

void Machine::kill() {
    const Kill one = kills_.back();
    kills_.pop_back();
    agenda_->set(kill_slot(), kills_.empty() ? never : kills_.back().at);
    const std::size_t number = groups_[one.job].members[one.rank];
    Member &member = members_[number];
    measures_.jobs[one.job].was_killed = true;
    if (!member.process.is_alive())
        return;
    member.process.kill(now_);
    member.had_work = false;
    if (member.was_serving)
        change_serving(member);
    member.waits_since.reset();
    agenda_->set(number, never);
    agenda_->set(job_slot(one.job), groups_[one.job].collectives.end());
    gpus_[member.gpu].host.remove(member.tsg, now_);
    sync(member.gpu);
}

} // namespace simulation
