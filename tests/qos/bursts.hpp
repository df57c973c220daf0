// SPDX-License-Identifier: MIT OR GPL-2.0
// Work of tasks on a simulated GPU that a test steers.
#pragma once

#include <algorithm>
#include <random>
#include <utility>

#include "lib/qos/goal.hpp"
#include "lib/simulation/shared_gpu.hpp"

namespace simulated {

using simulation::Bursts;
using simulation::Ns;
using simulation::TimedWork;

/// The GPU with the costs of turns that lib/qos counts with, which were measured on an H100 under
/// kernels that fill it (docs/partitions-measured.md).
inline simulation::Gpus gpus() {
    constexpr qos::Costs costs;
    return {.switching = costs.change, .late = costs.rest};
}

/// It always has work.
inline Bursts always() {
    return [begun = false](Ns now) mutable {
        return std::exchange(begun, true) ? std::nullopt
                                          : std::optional(TimedWork{now, simulation::never});
    };
}

/// One piece of work.
inline Bursts once(Ns work, Ns at = 0) {
    return [=, begun = false](Ns) mutable {
        return std::exchange(begun, true) ? std::nullopt : std::optional(TimedWork{at, work});
    };
}

/// One piece of work each period.
inline Bursts every(Ns period, Ns work, Ns first = 0) {
    return [=, at = first](Ns now) mutable {
        at = std::max(at, (now - first + period - 1) / period * period + first);
        return std::optional(TimedWork{std::exchange(at, at + period), work});
    };
}

/// It has work and none in turns of random lengths up to @p longest.
inline Bursts at_random(unsigned seed, Ns longest) {
    return [random = std::mt19937(seed), longest, at = Ns{0}](Ns) mutable {
        const auto length = [&] {
            return static_cast<Ns>(random() % static_cast<std::uint64_t>(longest));
        };
        const TimedWork burst{at, length()};
        at += burst.work + length();
        return std::optional(burst);
    };
}

/// The times of some tasks with the GPU, in the order of time.
class Uses {
  public:
    explicit Uses(std::vector<simulation::SharedGpu::Span> spans) : spans_(std::move(spans)) {
        std::ranges::sort(spans_, {}, &simulation::SharedGpu::Span::begin);
        for (const auto &span : spans_)
            sums_.push_back(sums_.back() + span.end - span.begin);
    }

    Ns before(Ns when) const {
        const auto next =
            std::ranges::upper_bound(spans_, when, {}, &simulation::SharedGpu::Span::begin);
        const auto count = static_cast<std::size_t>(next - spans_.begin());
        return count ? sums_[count] - std::max<Ns>(0, spans_[count - 1].end - when) : 0;
    }

    /// Returns the most of any second, without the time before @p since. Such a second begins with
    /// a span, or ends with one.
    Ns most_of_a_second(Ns since = 0) const {
        Ns most = 0;
        for (const auto &span : spans_)
            for (const Ns end : {span.end, span.begin + qos::second})
                most = std::max(most, before(end) - before(std::max(end - qos::second, since)));
        return most;
    }

  private:
    std::vector<simulation::SharedGpu::Span> spans_;
    std::vector<Ns> sums_ = {0}; ///< of the first spans
};

} // namespace simulated
