// SPDX-License-Identifier: MIT OR GPL-2.0
#include "allocate.hpp"

#include <algorithm>
#include <numeric>

namespace stgm {
namespace {

__extension__ using Wide = unsigned __int128;
constexpr int utilisation_bits = 60;

Wide share(Time time, Time period) {
    return (static_cast<Wide>(time) << utilisation_bits) / static_cast<Wide>(period);
}

/// Returns true if a / b < c / d.
bool less(Time a, Time b, Time c, Time d) {
    return static_cast<Wide>(a) * static_cast<Wide>(d) <
           static_cast<Wide>(c) * static_cast<Wide>(b);
}

using Set = std::vector<std::uint32_t>;

Set consecutive(std::uint32_t first, std::size_t count, std::uint32_t all) {
    Set sms;
    for (std::size_t n = 0; n < std::min<std::size_t>(count, all); n++)
        sms.push_back(static_cast<std::uint32_t>((first + n) % all));
    std::ranges::sort(sms);
    return sms;
}

class Allocator {
  public:
    Allocator(const TaskSet &set, const Options &options)
        : set_(without_allocation(set)), options_(options), model_(set_),
          analysis_(model_, options) {
        for (std::size_t task = 0; task < model_.size(); task++)
            if (model_[task].uses_gpu())
                users_.push_back(task);
        counts_.assign(model_.size(), 1);
    }

    Allocation mended();
    Allocation paper();
    Allocation disjoint();

  private:
    static TaskSet without_allocation(TaskSet set) {
        for (Task &task : set.tasks) {
            task.core.reset();
            task.sms.reset();
        }
        return set;
    }

    /// Returns the tasks in the order of line 14, by the part of their period that they have the
    /// core: C + G, or C + G^m if tasks suspend.
    std::vector<std::size_t> by_utilisation() const {
        std::vector<std::size_t> order(model_.size());
        std::iota(order.begin(), order.end(), 0);
        const auto time = [&](std::size_t task) {
            const Numbers &one = model_[task];
            return add(one.cpu, options_.busy ? one.segments() : one.copies);
        };
        std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
            return less(time(b), model_[b].period, time(a), model_[a].period);
        });
        return order;
    }

    /// Gives each task as many consecutive SMs as counts_ has for it (lines 7 to 13).
    void share_out() {
        if (!needs_sms(options_.method))
            return; // each task has all SMs
        std::uint32_t next = 0;
        for (const std::size_t task : users_) {
            model_.set_sms(task, consecutive(next, counts_[task], model_.sms()));
            next = static_cast<std::uint32_t>((next + counts_[task]) % model_.sms());
        }
        analysis_.sms_changed();
    }

    std::vector<std::size_t> with(const std::vector<std::size_t> &members, std::size_t task) const {
        std::vector<std::size_t> all = members;
        if (std::ranges::find(all, task) == all.end())
            all.insert(std::ranges::upper_bound(all, model_[task].rank, {},
                                                [&](std::size_t one) { return model_[one].rank; }),
                       task);
        return all;
    }

    std::vector<std::uint32_t> cores_by(const std::vector<Wide> &load) const {
        std::vector<std::uint32_t> cores(load.size());
        std::iota(cores.begin(), cores.end(), 0);
        std::ranges::stable_sort(cores, {}, [&](std::uint32_t core) { return load[core]; });
        return cores;
    }

    void move(std::size_t task, std::uint32_t core) {
        model_.set_core(task, core);
        if (analysis_.depends_on_cores())
            analysis_.cores_changed();
    }

    /// Places the tasks on cores by worst fit or first fit (lines 14 to 20). Returns true if all
    /// are placed, and the analysis accepts the result.
    bool place(bool worst_fit);
    /// Returns true if some task misses its deadline even alone, with all SMs.
    bool hopeless() const;
    bool grow();
    void group(const std::vector<std::vector<std::size_t>> &groups);
    Allocation result(bool found);

    TaskSet set_;
    Options options_;
    Model model_;
    Analysis analysis_;
    std::vector<std::size_t> users_;
    std::vector<std::size_t> counts_; ///< N
};

bool Allocator::place(bool worst_fit) {
    for (std::size_t task = 0; task < model_.size(); task++)
        model_.set_core(task, no_core);
    if (analysis_.depends_on_cores())
        analysis_.cores_changed();
    std::vector<std::vector<std::size_t>> members(model_.cores());
    std::vector<Wide> load(model_.cores());
    bool all = true;
    for (const std::size_t task : by_utilisation()) {
        bool placed = false;
        const std::vector<std::uint32_t> cores =
            worst_fit ? cores_by(load) : cores_by(std::vector<Wide>(load.size()));
        for (const std::uint32_t core : cores) {
            move(task, core);
            std::vector<std::size_t> together = with(members[core], task);
            if (!analysis_.fits(together))
                continue;
            members[core] = std::move(together);
            load[core] += share(model_[task].cpu, model_[task].period);
            placed = true;
            break;
        }
        if (!placed) {
            all = false;
            move(task, cores.front());
            break;
        }
    }
    if (!all)
        return false;
    const std::vector<Bound> bounds = analysis_.bounds();
    return schedulable(bounds);
}

bool Allocator::hopeless() const {
    for (std::size_t task = 0; task < model_.size(); task++)
        if (add(model_[task].cpu, model_.segments_on(task, model_.sms())) > model_[task].deadline)
            return true;
    return false;
}

/// Gives one more SM to the task that gains most by it (lines 23 to 25, mended). Returns false if
/// no task can have one more.
bool Allocator::grow() {
    std::size_t total = 0;
    for (const std::size_t task : users_)
        total += counts_[task];
    // Federated tasks share no SM, so their counts add up.
    if (!needs_sms(options_.method) ||
        (options_.method == Method::federated && total >= model_.sms()))
        return false;
    std::optional<std::size_t> best;
    Time most = 0;
    for (const std::size_t task : users_) {
        if (counts_[task] >= model_.sms())
            continue;
        const Time gain =
            model_.segments_on(task, counts_[task]) - model_.segments_on(task, counts_[task] + 1);
        if (!best || less(most, model_[*best].period, gain, model_[task].period)) {
            best = task;
            most = gain;
        }
    }
    if (best)
        counts_[*best]++;
    return best.has_value();
}

Allocation Allocator::result(bool found) {
    // A task that found no place is put on the core with most room, so that its bound can be shown.
    std::vector<Wide> load(model_.cores());
    for (const Numbers &one : model_.tasks())
        if (one.core != no_core)
            load[one.core] += share(one.cpu, one.period);
    for (std::size_t task = 0; task < model_.size(); task++)
        if (model_[task].core == no_core) {
            const std::uint32_t core = cores_by(load).front();
            model_.set_core(task, core);
            load[core] += share(model_[task].cpu, model_[task].period);
        }
    analysis_.cores_changed();
    Allocation allocation{.found = found, .set = set_, .bounds = analysis_.bounds()};
    for (std::size_t task = 0; task < model_.size(); task++) {
        allocation.set.tasks[task].core = model_[task].core;
        allocation.set.tasks[task].sms = model_[task].sms;
    }
    allocation.found = found && schedulable(allocation.bounds);
    return allocation;
}

Allocation Allocator::mended() {
    share_out();
    if (hopeless())
        return result(false);
    while (!place(true)) {
        if (!grow())
            return result(false);
        share_out();
    }
    return result(true);
}

Allocation Allocator::paper() {
    std::vector<std::vector<std::size_t>> members(model_.cores());
    std::vector<Wide> load(model_.cores());
    std::vector<Bound> claimed(model_.size());
    std::vector<bool> marked(model_.size());
    const Wide whole = Wide{1} << utilisation_bits;
    for (;;) {
        share_out();
        for (const std::size_t task : by_utilisation())
            for (const std::uint32_t core : cores_by(load)) {
                const Wide part = share(model_[task].cpu, model_[task].period);
                if (load[core] + part > whole)
                    continue;
                const std::uint32_t before = model_[task].core;
                move(task, core);
                const std::vector<std::size_t> together = with(members[core], task);
                if (!analysis_.one_fits(together, task)) {
                    move(task, before);
                    continue;
                }
                claimed[task] = analysis_.last_bound();
                load[core] += part;
                members[core] = together;
                marked[task] = true;
                break;
            }
        if (std::ranges::all_of(marked, std::identity{})) {
            Allocation allocation = result(true);
            allocation.refused = !allocation.found;
            if (options_.method == Method::printed) {
                allocation.found = true;
                allocation.bounds = std::move(claimed);
            }
            return allocation;
        }
        // Line 24 as printed: the sign is wrong, so that the task that gains least is chosen. A
        // task that has been given more than all SMs keeps its number.
        std::optional<std::size_t> chosen;
        Time least = 0;
        for (const std::size_t task : users_) {
            const Time gain = model_.segments_on(task, counts_[task]) -
                              model_.segments_on(task, counts_[task] + 1);
            if (!chosen || less(gain, model_[task].period, least, model_[*chosen].period)) {
                chosen = task;
                least = gain;
            }
        }
        const bool more = std::ranges::any_of(
            users_, [&](std::size_t task) { return counts_[task] <= model_.sms(); });
        if (!more || !chosen || counts_[*chosen] > model_.sms() || !needs_sms(options_.method))
            return result(false);
        counts_[*chosen]++;
    }
}

/// Divides the SMs among groups of tasks, all of which share the SMs of their group. Each SM goes
/// to the group in which it shortens the jobs most.
void Allocator::group(const std::vector<std::vector<std::size_t>> &groups) {
    std::vector<std::size_t> counts(groups.size(), 1);
    const auto cost = [&](std::size_t n, std::size_t sms) {
        double sum = 0;
        for (const std::size_t task : groups[n]) {
            double others = 0;
            for (const std::size_t other : groups[n])
                for (const Segment *const segment : model_[other].gpu)
                    if (other != task)
                        others = std::max(others, static_cast<double>(segment->kernel_on(sms)));
            sum += (static_cast<double>(model_.segments_on(task, sms)) +
                    static_cast<double>(model_[task].gpu_segments) * others *
                        static_cast<double>(groups[n].size() - 1)) /
                   static_cast<double>(model_[task].period);
        }
        return sum;
    };
    for (std::size_t left = model_.sms() - groups.size(); left > 0; left--) {
        std::size_t best = 0;
        double most = -1;
        for (std::size_t n = 0; n < groups.size(); n++)
            if (const double gain = cost(n, counts[n]) - cost(n, counts[n] + 1); gain > most) {
                best = n;
                most = gain;
            }
        counts[best]++;
    }
    std::uint32_t next = 0;
    for (std::size_t n = 0; n < groups.size(); n++) {
        for (const std::size_t task : groups[n])
            model_.set_sms(task, consecutive(next, counts[n], model_.sms()));
        next += static_cast<std::uint32_t>(counts[n]);
    }
    analysis_.sms_changed();
}

Allocation Allocator::disjoint() {
    if (hopeless() || !needs_sms(options_.method) || users_.empty())
        return mended();
    // Kernels of similar length are grouped, so that a short kernel does not wait for long ones.
    std::vector<std::size_t> order = users_;
    std::ranges::stable_sort(order, std::greater{},
                             [&](std::size_t task) { return model_[task].longest_kernel; });
    const std::size_t most = std::min<std::size_t>(users_.size(), model_.sms());
    for (std::size_t count = most; count >= 1; count--) {
        if (options_.method == Method::federated && count < users_.size())
            break;
        for (const bool alike : {true, false}) {
            std::vector<std::vector<std::size_t>> groups(count);
            for (std::size_t n = 0; n < order.size(); n++)
                groups[alike ? n * count / order.size() : n % count].push_back(order[n]);
            group(groups);
            for (const bool worst_fit : {true, false})
                if (place(worst_fit))
                    return result(true);
        }
    }
    return result(false);
}

} // namespace

Allocation allocate(const TaskSet &set, const Options &options, Algorithm algorithm) {
    Allocator allocator(set, options);
    switch (algorithm) {
    case Algorithm::paper:
        return allocator.paper();
    case Algorithm::disjoint:
        return allocator.disjoint();
    default:
        return allocator.mended();
    }
}

} // namespace stgm
