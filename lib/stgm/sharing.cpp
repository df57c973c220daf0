// SPDX-License-Identifier: MIT OR GPL-2.0
#include "sharing.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <ranges>

namespace stgm {
namespace {

/// Limits for the search of heaviest paths. The steps of one search are enough for 14 tasks that
/// all share SMs with each other. A task of a larger set has fewer steps, so that the searches for
/// all tasks take less than a second.
constexpr std::size_t steps_of_one = 200'000, steps_of_all = 60'000'000;

std::size_t find(std::vector<std::size_t> &root, std::size_t task) {
    while (root[task] != task)
        task = root[task] = root[root[task]];
    return task;
}

/// Searches depth first, and leaves a path as soon as all unused nodes together could not make it
/// the heaviest.
class HeaviestPath {
  public:
    HeaviestPath(std::vector<std::vector<std::size_t>> next, std::vector<Time> weight,
                 std::size_t steps_max)
        : next_(std::move(next)), weight_(std::move(weight)), used_(weight_.size()),
          steps_max_(steps_max) {}

    /// Returns the weight of the heaviest path from node 0, without the weight of node 0, or
    /// nullopt if the search takes too many steps.
    std::optional<Time> find() {
        Time rest = 0;
        for (std::size_t node = 1; node < weight_.size(); node++)
            rest = add(rest, weight_[node]);
        used_[0] = true;
        go(0, 0, rest);
        return steps_ > steps_max_ ? std::nullopt : std::optional(best_);
    }

  private:
    void go(std::size_t from, Time sum, Time rest) {
        best_ = std::max(best_, sum);
        for (const std::size_t node : next_[from]) {
            if (add(sum, rest) <= best_ || ++steps_ > steps_max_)
                return;
            if (used_[node])
                continue;
            used_[node] = true;
            go(node, add(sum, weight_[node]), rest - weight_[node]);
            used_[node] = false;
        }
    }

    std::vector<std::vector<std::size_t>> next_;
    std::vector<Time> weight_;
    std::vector<bool> used_;
    Time best_ = 0;
    std::size_t steps_ = 0;
    const std::size_t steps_max_;
};

} // namespace

Sharing::Sharing(const Model &model)
    : model_(model), root_(model.size()), direct_(model.size()), of_sm_(model.sms()),
      words_((model.sms() + bits_of_word - 1) / bits_of_word), masks_(model.size() * words_) {
    std::iota(root_.begin(), root_.end(), 0);
    for (std::size_t task = 0; task < model.size(); task++) {
        if (!model[task].uses_gpu())
            continue;
        users_.push_back(task);
        for (const std::uint32_t sm : model[task].sms) {
            of_sm_[sm].push_back(task);
            masks_[task * words_ + sm / bits_of_word] |= std::uint64_t{1} << sm % bits_of_word;
        }
    }
    for (const std::vector<std::size_t> &tasks : of_sm_)
        for (std::size_t n = 1; n < tasks.size(); n++)
            root_[find(root_, tasks[n])] = find(root_, tasks[0]);
    for (std::size_t task = 0; task < root_.size(); task++)
        root_[task] = find(root_, task);
    for (const std::vector<std::size_t> &tasks : of_sm_)
        if (tasks.size() > 1)
            for (const std::size_t task : tasks)
                direct_[task]++;
}

bool Sharing::linked(std::size_t a, std::size_t b) const {
    return std::ranges::any_of(std::views::iota(std::size_t{0}, words_), [&](std::size_t word) {
        return masks_[a * words_ + word] & masks_[b * words_ + word];
    });
}

Time Sharing::direct(std::size_t task) const {
    Time sum = 0;
    for (const std::size_t other : users_)
        if (other != task && root_[other] == root_[task] && linked(task, other))
            sum = add(sum, model_[other].longest_kernel);
    return sum;
}

Time Sharing::component(std::size_t task) const {
    Time sum = 0;
    for (const std::size_t other : users_)
        if (other != task && root_[other] == root_[task])
            sum = add(sum, model_[other].longest_kernel);
    return sum;
}

Time Sharing::path(std::size_t task) const {
    std::vector<std::size_t> nodes{task};
    for (const std::size_t other : users_)
        if (other != task && root_[other] == root_[task])
            nodes.push_back(other);
    constexpr std::size_t most = 64;
    const Time all = component(task);
    if (nodes.size() > most || all == endless)
        return all;
    // The heaviest nodes come first, so that the search finds heavy paths early.
    std::sort(nodes.begin() + 1, nodes.end(), [&](std::size_t a, std::size_t b) {
        return model_[a].longest_kernel > model_[b].longest_kernel;
    });
    std::vector<std::vector<std::size_t>> next(nodes.size());
    std::vector<Time> weight;
    for (std::size_t a = 0; a < nodes.size(); a++) {
        weight.push_back(model_[nodes[a]].longest_kernel);
        for (std::size_t b = 1; b < nodes.size(); b++)
            if (a != b && linked(nodes[a], nodes[b]))
                next[a].push_back(b);
    }
    const std::size_t steps = std::min(steps_of_one, steps_of_all / users_.size());
    return HeaviestPath(std::move(next), std::move(weight), steps).find().value_or(all);
}

Time Sharing::one_per_core(std::size_t task) const {
    std::map<std::uint32_t, Time> longest;
    Time sum = 0;
    for (const std::size_t other : users_) {
        if (other == task || root_[other] != root_[task])
            continue;
        if (model_[other].core == no_core)
            sum = add(sum, model_[other].longest_kernel);
        else if (Time &of_core = longest[model_[other].core];
                 model_[other].core != model_[task].core)
            of_core = std::max(of_core, model_[other].longest_kernel);
    }
    for (const auto &[core, time] : longest)
        sum = add(sum, time);
    return sum;
}

} // namespace stgm
