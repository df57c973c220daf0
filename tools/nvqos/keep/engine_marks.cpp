// SPDX-License-Identifier: MIT OR GPL-2.0
#include "engine_marks.hpp"

#include <algorithm>

#include "lib/base/quantity.hpp"

namespace nvqos {
namespace {

using qos::Ns;

constexpr std::size_t longest_id = 64;

/// Takes a word off the front of the text.
std::string_view next_word(std::string_view &text) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return word;
}

/// Returns the time that so many percent of the values do not exceed.
std::optional<Ns> percentile(std::vector<Ns> values, std::int64_t percent) {
    if (values.empty())
        return std::nullopt;
    const std::size_t place = (values.size() * static_cast<std::size_t>(percent) + 99) / 100 - 1;
    const auto at = values.begin() + static_cast<std::ptrdiff_t>(place);
    std::ranges::nth_element(values, at);
    return *at;
}

} // namespace

std::optional<bool> EngineMarks::find(std::uint32_t pid, Ns now) const {
    const auto state = states_.find(pid);
    return state == states_.end() || now - state->second.at >= lasts
               ? std::nullopt
               : std::optional(state->second.busy);
}

std::optional<bool> EngineMarks::busy(std::uint32_t pid, Ns now) const {
    const std::scoped_lock held(lock_);
    return find(pid, now);
}

/// Takes a mark about a request. Returns false if the text makes no sense, or is about a request
/// with an unknown begin.
bool EngineMarks::take_request(State &state, std::string_view text, Ns now) const {
    const std::string_view what = next_word(text), id = next_word(text);
    if (id.empty() || id.size() > longest_id)
        return false;
    std::erase_if(state.open, [&](const auto &one) { return now - one.second.arrived >= window; });
    const auto add = [&](Took &times, Ns took) {
        times.emplace_back(now, took);
        while (times.size() > most_requests || now - times.front().first >= window)
            times.pop_front();
    };
    const auto at = state.open.find(id);
    if (what == "request" && text.empty()) {
        if (at == state.open.end() && state.open.size() < most_requests)
            state.open.emplace(id, Open{now});
        state.busy = true;
        return true;
    }
    if (at == state.open.end())
        return false;
    if (what == "first" && text.empty()) {
        if (!at->second.first)
            add(state.ttft, now - at->second.arrived);
        at->second.first = at->second.first.value_or(now);
        return true;
    }
    constexpr std::int64_t most_tokens = 1'000'000'000;
    const auto tokens = nvdebug::base::parse_whole(text, 1, most_tokens);
    if (what != "end" || !tokens)
        return false;
    if (at->second.first && *tokens > 1)
        add(state.tpot, (now - *at->second.first) / (*tokens - 1));
    state.open.erase(at);
    state.busy = !state.open.empty();
    return true;
}

bool EngineMarks::take(std::uint32_t pid, std::string_view text, Ns now) {
    const std::scoped_lock held(lock_);
    const auto before = find(pid, now);
    const auto known = states_.find(pid);
    State state = known == states_.end() ? State() : std::move(known->second);
    const bool is_state = text == "busy" || text == "idle";
    if (text == "idle")
        state.open.clear();
    if (is_state)
        state.busy = text == "busy";
    const bool makes_sense = is_state || take_request(state, text, now);
    if (makes_sense)
        state.at = now;
    if (known != states_.end()) {
        known->second = std::move(state);
    } else if (makes_sense) {
        if (states_.size() >= most)
            states_.erase(std::ranges::min_element(states_, {},
                                                   [](const auto &one) { return one.second.at; }));
        states_.emplace(pid, std::move(state));
    }
    return before != find(pid, now);
}

std::optional<EngineTimes> EngineMarks::times(std::span<const std::uint32_t> pids,
                                              const qos::Goal &goal, Ns now) const {
    std::vector<Ns> first, later;
    {
        const std::scoped_lock held(lock_);
        for (const std::uint32_t pid : pids) {
            const auto state = states_.find(pid);
            if (state == states_.end())
                continue;
            for (const auto &[at, took] : state->second.ttft)
                if (now - at < window)
                    first.push_back(took);
            for (const auto &[at, took] : state->second.tpot)
                if (now - at < window)
                    later.push_back(took);
            for (const auto &[id, one] : state->second.open)
                if (const Ns age = now - one.arrived;
                    !one.first && goal.ttft.most > 0 && age > goal.ttft.most && age < window)
                    first.push_back(age);
        }
    }
    if (first.empty() && later.empty())
        return std::nullopt;
    EngineTimes times{.requests = first.size()};
    if (goal.ttft.most > 0)
        times.ttft = percentile(std::move(first), goal.ttft.percent);
    if (goal.tpot.most > 0)
        times.tpot = percentile(std::move(later), goal.tpot.percent);
    return times;
}

} // namespace nvqos
