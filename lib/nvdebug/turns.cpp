// SPDX-License-Identifier: MIT OR GPL-2.0
#include "nvdebug/turns.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace nvdebug {

std::uint64_t saving_ns(const Turn &turn, std::uint64_t timeslice_ns) {
    // Saving a large context takes 0.2 ms on an H100 (docs/lab.md). A turn that ends later than
    // that ended because the task gave the engine up.
    constexpr std::uint64_t longest_ns = 300'000;
    const std::uint64_t ns = turn.end_ns - turn.begin_ns;
    if (!turn.whole || !timeslice_ns || ns < timeslice_ns)
        return 0;
    const std::uint64_t after = ns % timeslice_ns;
    return after <= longest_ns ? after : 0;
}

// --- turns from switches ---

void SwitchTurns::finish(std::uint64_t ns, bool seen, std::vector<Turn> &turns) {
    // The GPU records an end when the switch is over, 84 us later on an H100. So split() may have
    // begun a new part in between.
    if (now_ && !began_)
        ns = std::max(ns, begin_);
    const std::uint64_t since = since_.value_or(0);
    if (now_ && ns >= begin_ && (begin_ >= since || ns > since)) {
        const auto gap = left_ && *left_ <= begin_ ? std::optional(begin_ - *left_) : std::nullopt;
        turns.push_back(
            {*now_, std::max(begin_, since), ns, began_ && seen && begin_ >= since, gap});
        left_ = ns;
    }
    now_.reset();
}

void SwitchTurns::add(const ContextSwitch &one, std::vector<Turn> &turns) {
    const Holder who{.pid = one.pid, .context = one.context};
    if (one.starts) {
        finish(one.ns, false, turns);
        now_ = who;
        begin_ = one.ns;
        began_ = true;
    } else {
        // A process with an end as its first record was on the engine from the beginning on.
        if (!now_ && known_ && !left_) {
            now_ = who;
            begin_ = *known_;
            began_ = false;
        }
        finish(one.ns, now_ == who, turns);
    }
    known_ = one.ns;
}

void SwitchTurns::lose(std::vector<Turn> &turns) {
    if (known_)
        finish(*known_, false, turns);
    now_.reset();
    known_.reset();
    left_.reset();
}

void SwitchTurns::end(std::uint64_t ns, std::vector<Turn> &turns) {
    finish(ns, false, turns);
}

void SwitchTurns::split(std::uint64_t ns, std::vector<Turn> &turns) {
    if (!now_) {
        // If the gap goes on, only its part from now on belongs to the next turn.
        if (left_)
            left_ = std::max(*left_, ns);
        return;
    }
    if (ns > begin_) {
        const Holder who = *now_;
        finish(ns, false, turns);
        now_ = who;
        begin_ = ns;
        began_ = false;
    }
    left_.reset();
}

// --- turns from samples ---

void SampleTurns::finish(std::uint64_t ns, bool seen, std::vector<Turn> &turns) {
    if (now_ && ns > begin_)
        turns.push_back({*now_, begin_, ns, began_ && seen, std::nullopt});
    now_.reset();
}

void SampleTurns::add(std::uint64_t ns, const std::optional<Holder> &who,
                      std::vector<Turn> &turns) {
    if (last_ && ns < *last_)
        return;
    const bool follows = last_ && ns - *last_ <= longest_;
    if (!follows) {
        end(turns);
        now_ = who;
        begin_ = ns;
        began_ = false;
    } else {
        known_ += ns - *last_;
        if (who != now_) {
            const std::uint64_t middle = *last_ + (ns - *last_) / 2;
            finish(middle, true, turns);
            now_ = who;
            begin_ = middle;
            began_ = true;
        }
    }
    last_ = ns;
}

void SampleTurns::end(std::vector<Turn> &turns) {
    if (last_)
        finish(*last_, false, turns);
}

void SampleTurns::split(std::vector<Turn> &turns) {
    const std::optional<Holder> who = now_;
    end(turns);
    now_ = who;
    begin_ = last_.value_or(0);
    began_ = false;
}

// --- sums of turns ---

namespace {

/// Each length below 2^bits has a bucket of its own. Above, each power of two has 2^(bits - 1)
/// buckets.
constexpr int bits = 8;

std::size_t bucket_of(std::uint64_t ns) {
    const int shift = std::max(static_cast<int>(std::bit_width(ns)) - bits, 0);
    return (static_cast<std::size_t>(shift) << (bits - 1)) + static_cast<std::size_t>(ns >> shift);
}

/// Returns the middle of a bucket.
std::uint64_t length_of(std::size_t bucket) {
    constexpr std::size_t half = std::size_t{1} << (bits - 1);
    if (bucket < 2 * half)
        return bucket;
    const std::size_t shift = bucket / half - 1;
    return (std::uint64_t{bucket % half + half} << shift) + ((std::uint64_t{1} << shift) >> 1);
}

} // namespace

void Lengths::add(std::uint64_t ns) {
    count_++;
    sum_ += ns;
    min_ = std::min(min_, ns);
    max_ = std::max(max_, ns);
    const std::size_t bucket = bucket_of(ns);
    if (bucket >= buckets_.size())
        buckets_.resize(bucket + 1);
    buckets_[bucket]++;
}

std::uint64_t Lengths::quantile(double part) const {
    const auto wanted = std::max<std::uint64_t>(
        1, static_cast<std::uint64_t>(std::ceil(part * static_cast<double>(count_))));
    std::uint64_t so_far = 0;
    for (std::size_t bucket = 0; bucket < buckets_.size(); bucket++)
        if ((so_far += buckets_[bucket]) >= wanted)
            return std::clamp(length_of(bucket), min_, max_);
    return max();
}

void Tally::add(const Turn &turn, std::optional<std::uint64_t> timeslice_ns) {
    // A process is counted once, whichever of its contexts has the turn.
    const Holder who =
        turn.who.pid ? Holder{.pid = turn.who.pid, .started = turn.who.started} : turn.who;
    Held &held = held_[who];
    const std::uint64_t ns = turn.end_ns - turn.begin_ns;
    held.turns++;
    held.ns += ns;
    held_ns_ += ns;
    if (const std::uint64_t saving = timeslice_ns ? saving_ns(turn, *timeslice_ns) : 0) {
        held.saving_ns += saving;
        savings_.add(saving);
    }
    if (turn.whole)
        held.lengths.add(ns);
    if (held.left_ && *held.left_ <= turn.begin_ns)
        held.away.add(turn.begin_ns - *held.left_);
    held.left_ = turn.end_ns;
    if (!turn.gap_ns)
        return;
    if (*turn.gap_ns <= longest_switch_ns)
        switches_.add(*turn.gap_ns);
    else
        nobody_ns_ += *turn.gap_ns;
}

void Tally::lose() {
    for (auto &[who, held] : held_)
        held.left_.reset();
}

} // namespace nvdebug
