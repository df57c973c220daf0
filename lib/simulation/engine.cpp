// SPDX-License-Identifier: MIT OR GPL-2.0
#include "engine.hpp"

#include <algorithm>

namespace simulation {

Ns Arrivals::at(std::size_t number) {
    if (mean_ == 0)
        return 0;
    while (times_.size() <= number)
        times_.push_back(last_ += random_.varied(mean_, variation_));
    return times_[number];
}

void Engine::begin_step(Arrivals &arrivals, Ns now) {
    begun_++;
    is_prefill_ = running_.size() < load_.batch && arrivals.at(next_) <= now;
    if (!is_prefill_) {
        step_time_ = load_.decode + load_.decode_each * static_cast<Ns>(running_.size());
        return;
    }
    step_time_ = random_.varied(load_.prefill, load_.prefill_variation);
    const std::int64_t tokens =
        std::max<std::int64_t>(1, random_.varied(load_.tokens, load_.tokens_variation));
    running_.push_back({{.number = next_,
                         .arrived = arrivals.at(next_),
                         .first = 0,
                         .last = 0,
                         .tokens = tokens}});
    next_++;
}

void Engine::end_step(Ns now) {
    for (Running &one : running_) {
        if (one.made == 0) {
            one.request.first = one.request.last = now;
        } else if (is_prefill_) {
            continue;
        } else {
            one.request.gaps.push_back(now - std::exchange(one.request.last, now));
        }
        one.made++;
    }
    std::erase_if(running_, [&](Running &one) {
        const bool is_over = one.made >= one.request.tokens;
        if (is_over)
            served_.push_back(std::move(one.request));
        return is_over;
    });
}

} // namespace simulation
