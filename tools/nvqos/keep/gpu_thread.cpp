// SPDX-License-Identifier: MIT OR GPL-2.0
#include "gpu_thread.hpp"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <fmt/format.h>
#include <future>
#include <mutex>
#include <utility>

#include "left_over.hpp"
#include "lib/base/thread_name.hpp"
#include "tools/nvqos/refusal.hpp"

namespace nvqos {

using Clock = std::chrono::steady_clock;

namespace {

/// The number of reports that may wait for take_reports(): some seconds of epochs.
constexpr std::size_t most_reports = 100;

} // namespace

struct GpuThread::Shared {
    /// A function for the thread, which calls it with nullptr if there is no GpuGoals.
    using Job = std::function<void(GpuGoals *)>;

    const std::uint32_t index;
    const std::size_t gpus;
    const Open open;
    const Options options;
    const Warn warn;
    std::string address = {}; ///< of the GPU on its bus, once it is known; for the thread alone

    mutable std::mutex lock; ///< of all that follows
    mutable std::condition_variable changed;
    std::deque<Job> jobs = {};
    bool is_step_wanted = true; ///< the next step is due, or somebody wants it now
    Goals goals;                ///< of the next GpuGoals
    bool may_step = false, ends = false, has_ended = false;
    bool has_tried = false;                                     ///< the first start is over
    std::optional<Clock::time_point> busy_since = Clock::now(); ///< empty: the thread waits
    std::optional<GpuFacts> facts = {};

    /// Whether goals are kept on the GPU, and why they are not.
    struct {
        bool has_goals = false; ///< a GpuGoals was started
        bool is_late = false;   ///< the driver does not answer
        std::optional<Failure> why = {};
        std::string out_since = {}; ///< since when it is left out, UTC; empty: it is not
        std::string last_out = {};  ///< an earlier time in which it was left out, as a sentence
        bool was_up = false;
    } state = {};
    /// The results of the goals so far.
    struct {
        std::deque<Report> reports = {};
        std::vector<Missed> missed = {};
        std::vector<std::string> waits = {};
    } results = {};

    bool is_up() const { return state.has_goals && !state.is_late; }
    void tell(const std::string &sentence) const {
        warn(fmt::format("gpu{}: {}", index, sentence));
    }

    Outcome<nvdebug::Gpu> find_gpu();
    Outcome<std::unique_ptr<GpuGoals>> start(const Goals &from, bool takes_any_goals);
    void keep(GpuGoals &gpu_goals);
    void wait(std::unique_lock<std::mutex> &held, qos::Ns longest);
    void leave_out(const Failure &failure);
    void be_late();
    void be_on_time();
    void end_outage();
};

// --- the thread ---

/// Finds the GPU by its address. The driver numbers its GPUs from 0 on, so a GPU that has gone
/// changes the numbers of others.
Outcome<nvdebug::Gpu> GpuThread::Shared::find_gpu() {
    const auto tree = open();
    if (!tree)
        return fail(tree.error());
    const auto all = nvdebug::gpus(*tree);
    if (!all)
        return fail(all.error());
    const auto address_of = [](const nvdebug::Gpu &gpu) {
        const auto info = gpu.info();
        return info ? info->pci_address.value_or("") : "";
    };
    if (address.empty() && index < all->size() && all->size() == gpus)
        address = address_of((*all)[index]);
    // Mostly the GPU still has its number, and the others need not be opened.
    if (index < all->size() && address_of((*all)[index]) == address)
        return (*all)[index];
    for (const nvdebug::Gpu &gpu : *all)
        if (!address.empty() && address_of(gpu) == address)
            return gpu;
    return fail(failed, "NVIDIA's driver lists it no more");
}

Outcome<std::unique_ptr<GpuGoals>> GpuThread::Shared::start(const Goals &from,
                                                            bool takes_any_goals) {
    const auto gpu = find_gpu();
    if (!gpu)
        return tl::unexpected(gpu.error());
    auto found = facts_of(*gpu);
    found.number = index;
    {
        const std::scoped_lock held(lock);
        // The driver returns fewer names of a GPU that is lost or asleep.
        if (!facts || found.product.uuid)
            facts = std::move(found);
    }
    restore_left_over(*gpu, index, options.gpu_goals.dry_run, warn);
    GpuGoals::Options chosen = options.gpu_goals;
    chosen.marks = options.marks.get();
    chosen.takes_any_goals = takes_any_goals;
    chosen.index = index;
    return GpuGoals::start(*gpu, from, chosen, warn);
}

/// Waits for a job, the end, or until it is time for a step.
void GpuThread::Shared::wait(std::unique_lock<std::mutex> &held, qos::Ns longest) {
    busy_since.reset();
    const bool is_due = !changed.wait_for(held, std::chrono::nanoseconds(longest),
                                          [&] { return ends || is_step_wanted || !jobs.empty(); });
    is_step_wanted = is_step_wanted || is_due;
    busy_since = Clock::now();
}

void GpuThread::Shared::keep(GpuGoals &gpu_goals) {
    for (;;) {
        std::unique_lock held(lock);
        be_on_time();
        while (!jobs.empty() && !ends) {
            const Job job = std::exchange(jobs.front(), {});
            jobs.pop_front();
            held.unlock();
            job(&gpu_goals);
            held.lock();
        }
        if (ends)
            return;
        if (!may_step) {
            busy_since.reset();
            changed.wait(held, [&] { return ends || may_step || !jobs.empty(); });
            busy_since = Clock::now();
            continue;
        }
        if (std::exchange(is_step_wanted, false)) {
            held.unlock();
            auto report = gpu_goals.step();
            if (!report)
                return leave_out(report.error());
            held.lock();
            if (*report) {
                results.reports.push_back(std::move(**report));
                if (results.reports.size() > most_reports)
                    results.reports.pop_front();
                options.wake();
            }
            be_on_time();
        }
        if (jobs.empty())
            wait(held, gpu_goals.wait());
    }
}

/// Leaves the GPU out after a failure. Warns if the sentence is another one than before.
void GpuThread::Shared::leave_out(const Failure &failure) {
    const std::scoped_lock held(lock);
    const bool is_news = !state.why || state.why->sentence != failure.sentence;
    state.has_goals = false;
    state.is_late = false;
    state.why = failure;
    if (state.out_since.empty())
        state.out_since = utc_now();
    if (is_news && may_step)
        tell(fmt::format("{}; the GPU is left out, and tried again each {:g} s", failure.sentence,
                         std::chrono::duration<double>(options.between_tries).count()));
    options.wake();
}

void GpuThread::Shared::be_late() {
    if (state.is_late)
        return;
    state.is_late = true;
    if (state.out_since.empty())
        state.out_since = utc_now();
    const auto waited =
        std::chrono::floor<std::chrono::seconds>(Clock::now() - busy_since.value_or(Clock::now()));
    tell(fmt::format("the driver does not answer{}; the GPU is left out until it does",
                     waited.count() ? fmt::format(", for {} s now", waited.count()) : ""));
    options.wake();
}

void GpuThread::Shared::be_on_time() {
    busy_since = Clock::now();
    if (!std::exchange(state.is_late, false))
        return;
    if (state.has_goals) {
        tell(fmt::format("the driver answers again, and goals are kept again; the GPU was left out "
                         "since {}",
                         state.out_since));
        end_outage();
    }
    options.wake();
}

void GpuThread::Shared::end_outage() {
    if (const std::string since = std::exchange(state.out_since, {}); !since.empty())
        state.last_out = fmt::format("was left out between {} and {}", since, utc_now());
}

void GpuThread::run(const std::shared_ptr<Shared> &shared) {
    Shared &own = *shared;
    nvdebug::base::name_thread(fmt::format("nvqos-gpu{}", own.index));
    std::unique_lock held(own.lock);
    while (!own.ends) {
        const Goals goals = own.goals;
        const bool takes_any_goals = own.may_step;
        own.busy_since = Clock::now();
        held.unlock();
        auto gpu_goals = own.start(goals, takes_any_goals);
        if (!gpu_goals)
            own.leave_out(gpu_goals.error());
        held.lock();
        own.has_tried = true;
        own.changed.notify_all();
        if (gpu_goals && !own.ends) {
            if (own.state.why || own.state.is_late)
                own.tell(fmt::format("goals are kept on it now; it was left out since {}",
                                     own.state.out_since));
            own.end_outage();
            own.state.is_late = false;
            own.state.has_goals = own.state.was_up = true;
            own.state.why.reset();
            own.is_step_wanted = true;
            // The goals may have changed during the start.
            if (own.goals != goals)
                own.jobs.push_front([newer = own.goals](GpuGoals *one) {
                    if (one)
                        one->put_goals(newer);
                });
            own.options.wake();
            held.unlock();
            own.keep(**gpu_goals);
            // Tasks are restored first; the end waits for a search that may still go on.
            (*gpu_goals)->let_go();
            held.lock();
            own.state.has_goals = false;
            for (const Missed &one : (*gpu_goals)->missed())
                add_missed(own.results.missed, one);
            own.results.waits = (*gpu_goals)->waits();
        }
        for (const Shared::Job &job : std::exchange(own.jobs, {}))
            job(nullptr);
        held.unlock();
        if (gpu_goals)
            gpu_goals->reset();
        held.lock();
        const auto next = Clock::now() + own.options.between_tries;
        own.busy_since.reset();
        while (!own.ends && Clock::now() < next) {
            own.changed.wait_until(held, next, [&] { return own.ends || !own.jobs.empty(); });
            for (const Shared::Job &job : std::exchange(own.jobs, {}))
                job(nullptr);
        }
    }
    own.has_ended = true;
    own.changed.notify_all();
}

// --- other threads ---

GpuThread::GpuThread(std::uint32_t gpu, std::size_t gpus, Open open, const Goals &goals,
                     Options options, Warn warn)
    : index_(gpu), shared_(new Shared{.index = gpu,
                                      .gpus = gpus,
                                      .open = std::move(open),
                                      .options = std::move(options),
                                      .warn = std::move(warn),
                                      .goals = goals}),
      thread_([shared = shared_] { run(shared); }) {}

/// Leaves the thread behind if the driver does not answer it, because the program is to end.
GpuThread::~GpuThread() {
    begin_end();
    if (end(Clock::now() + std::chrono::seconds(1)))
        thread_.join();
    else
        thread_.detach();
}

GpuFacts GpuThread::facts() const {
    const std::scoped_lock held(shared_->lock);
    return shared_->facts.value_or(GpuFacts{index_});
}

bool GpuThread::wait_for_start(Clock::time_point until) const {
    std::unique_lock held(shared_->lock);
    return shared_->changed.wait_until(held, until, [&] { return shared_->has_tried; });
}

void GpuThread::go() {
    const std::scoped_lock held(shared_->lock);
    shared_->may_step = true;
    if (shared_->state.why)
        shared_->tell(fmt::format(
            "{}; the GPU is left out, and tried again each {:g} s", shared_->state.why->sentence,
            std::chrono::duration<double>(shared_->options.between_tries).count()));
    else if (!shared_->has_tried)
        shared_->be_late();
    shared_->changed.notify_all();
}

bool GpuThread::is_up() const {
    const std::scoped_lock held(shared_->lock);
    return shared_->is_up();
}

bool GpuThread::was_up() const {
    const std::scoped_lock held(shared_->lock);
    return shared_->state.was_up;
}

std::optional<Failure> GpuThread::why_out() const {
    const std::scoped_lock held(shared_->lock);
    if (shared_->state.is_late)
        return Failure{failed, "the driver does not answer"};
    return shared_->state.why;
}

std::string GpuThread::outage() const {
    const auto why = why_out();
    const std::scoped_lock held(shared_->lock);
    const auto &state = shared_->state;
    return why ? fmt::format("was left out from {} to the end: {}", state.out_since, why->sentence)
               : state.last_out;
}

std::string GpuThread::out_since() const {
    const std::scoped_lock held(shared_->lock);
    return shared_->state.out_since;
}

void GpuThread::watch() {
    const std::scoped_lock held(shared_->lock);
    if (shared_->busy_since && Clock::now() - *shared_->busy_since >= shared_->options.longest_step)
        shared_->be_late();
}

template <typename T>
std::optional<T> GpuThread::ask(std::function<T(GpuGoals &)> question) const {
    const auto promise = std::make_shared<std::promise<std::optional<T>>>();
    auto answer = promise->get_future();
    {
        const std::scoped_lock held(shared_->lock);
        if (!shared_->is_up() || shared_->ends)
            return std::nullopt;
        shared_->jobs.push_back([promise, question = std::move(question)](GpuGoals *gpu_goals) {
            promise->set_value(gpu_goals ? std::optional<T>(question(*gpu_goals)) : std::nullopt);
        });
        shared_->is_step_wanted = true;
        shared_->changed.notify_all();
    }
    if (answer.wait_for(shared_->options.longest_answer) == std::future_status::ready)
        return answer.get();
    const std::scoped_lock held(shared_->lock);
    shared_->be_late();
    return std::nullopt;
}

Outcome<void> GpuThread::set_goals(const Goals &goals) {
    // Once the caller no longer waits for the answer, the goals are put whether they can be kept or
    // not.
    const auto waits = std::make_shared<std::atomic<bool>>(true);
    auto set = ask<Outcome<void>>([goals, waits](GpuGoals &gpu_goals) -> Outcome<void> {
        if (*waits)
            return gpu_goals.set_goals(goals);
        gpu_goals.put_goals(goals);
        return {};
    });
    *waits = false;
    if (!set) {
        if (const auto refusals = refusals_of(goals); !refusals.empty())
            return fail(refused, refusals.front());
        put_goals(goals);
        return {};
    }
    if (*set) {
        const std::scoped_lock held(shared_->lock);
        shared_->goals = goals;
    }
    return std::move(*set);
}

void GpuThread::put_goals(const Goals &goals) {
    {
        const std::scoped_lock held(shared_->lock);
        shared_->goals = goals;
        if (shared_->state.is_late && shared_->state.has_goals)
            shared_->jobs.push_back([goals](GpuGoals *gpu_goals) {
                if (gpu_goals)
                    gpu_goals->put_goals(goals);
            });
    }
    static_cast<void>(ask<bool>([goals](GpuGoals &gpu_goals) {
        gpu_goals.put_goals(goals);
        return true;
    }));
}

void GpuThread::assign_tenants() {
    post([](GpuGoals *gpu_goals) {
        if (gpu_goals)
            gpu_goals->assign_tenants();
    });
    wake();
}

void GpuThread::wake() {
    const std::scoped_lock held(shared_->lock);
    shared_->is_step_wanted = true;
    shared_->changed.notify_all();
}

void GpuThread::post(std::function<void(GpuGoals *)> job) {
    const std::scoped_lock held(shared_->lock);
    shared_->jobs.push_back(std::move(job));
    shared_->changed.notify_all();
}

std::vector<FamilyUse> GpuThread::uses() const {
    return ask<std::vector<FamilyUse>>([](GpuGoals &gpu_goals) { return gpu_goals.uses(); })
        .value_or(std::vector<FamilyUse>());
}

std::optional<Report> GpuThread::plan() const {
    return ask<Report>([](GpuGoals &gpu_goals) { return gpu_goals.plan(); });
}

std::optional<std::vector<bool>> GpuThread::has_tasks() const {
    return ask<std::vector<bool>>([](GpuGoals &gpu_goals) { return gpu_goals.has_tasks(); });
}

std::vector<std::shared_ptr<Family>>
GpuThread::unheld_among(std::vector<std::shared_ptr<Family>> families) const {
    return ask<std::vector<std::shared_ptr<Family>>>(
               [families = std::move(families)](GpuGoals &gpu_goals) {
                   auto found = families;
                   std::erase_if(found, [&](const std::shared_ptr<Family> &family) {
                       return !gpu_goals.has_unheld_tasks_in(*family);
                   });
                   return found;
               })
        .value_or(std::vector<std::shared_ptr<Family>>());
}

std::vector<Report> GpuThread::take_reports() {
    const std::scoped_lock held(shared_->lock);
    std::deque<Report> taken = std::exchange(shared_->results.reports, {});
    return {std::make_move_iterator(taken.begin()), std::make_move_iterator(taken.end())};
}

void GpuThread::begin_end() {
    const std::scoped_lock held(shared_->lock);
    shared_->ends = true;
    shared_->changed.notify_all();
}

bool GpuThread::end(Clock::time_point until) {
    std::unique_lock held(shared_->lock);
    return shared_->changed.wait_until(held, until, [&] { return shared_->has_ended; });
}

std::vector<Missed> GpuThread::missed() const {
    const std::scoped_lock held(shared_->lock);
    return shared_->results.missed;
}

std::vector<std::string> GpuThread::waits() const {
    const std::scoped_lock held(shared_->lock);
    return shared_->results.waits;
}

} // namespace nvqos
