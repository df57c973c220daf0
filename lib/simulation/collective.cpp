// SPDX-License-Identifier: MIT OR GPL-2.0
#include "collective.hpp"

#include <algorithm>
#include <utility>

namespace simulation {

void Collectives::Progress::end_round(Ns when) {
    ends[place(ended++)] = when;
    since = when;
    left = never;
}

/// Rounds take whole nanoseconds, and all of them the time of the collective.
void Collectives::Progress::begin_round(Ns when) {
    since = when;
    carried += rest;
    const bool is_longer = carried >= rounds;
    carried -= is_longer ? rounds : 0;
    left = length + is_longer;
}

Ns Collectives::Progress::after_round() const {
    const std::int64_t more = target - ended - 1;
    return length * more + (carried + rest * more) / rounds;
}

void Collectives::begin(std::size_t rank, Ns time, std::int64_t rounds, Ns now) {
    go_back(now);
    Progress &one = ranks_[rank];
    one.rounds = rounds;
    one.length = rounds ? time / rounds : 0;
    one.rest = rounds ? time % rounds : 0;
    one.carried = 0;
    one.target += std::max<std::int64_t>(rounds, 1);
    one.runs = true;
    one.since = now;
    last_ = std::max(last_, one.target);
    if (rounds == 0)
        joint_time_ = std::max(joint_time_, time);
    foresee(now);
}

void Collectives::set_running(std::size_t rank, bool runs, Ns now) {
    if (ranks_[rank].runs == runs)
        return;
    go_back(now);
    if (!runs)
        work_out(now);
    ranks_[rank].runs = runs;
    ranks_[rank].since = now;
    foresee(now);
}

void Collectives::finish() {
    for (Progress &one : ranks_) {
        one.ended = last_ - 1;
        one.end_round(end_); // nothing of the next collective is before that
    }
    known_.clear();
    joint_time_ = joint_done_ = 0;
    done_ = last_;
    end_ = never;
}

std::int64_t Collectives::ended(std::size_t rank, Ns now) {
    go_back(now);
    work_out(now);
    const std::int64_t ended = ranks_[rank].ended;
    foresee(now);
    return ended;
}

void Collectives::go_back(Ns now) {
    if (end_ != never && is_joint())
        joint_done_ += now - joint_since_;
    if (!known_.empty())
        ranks_ = std::exchange(known_, {});
    end_ = never;
}

void Collectives::foresee(Ns now) {
    const auto ends = [&](const Progress &one) {
        return one.target == last_ && (one.runs || one.ended == last_);
    };
    if (done_ == last_ || !std::ranges::all_of(ranks_, ends))
        return;
    if (is_joint()) {
        joint_since_ = now;
        end_ = now + joint_time_ - joint_done_;
        return;
    }
    work_out(now);
    end_ = now;
    const auto is_as_long = [&](const Progress &one) {
        return one.length == ranks_.front().length && one.rest == ranks_.front().rest;
    };
    if (std::ranges::all_of(ranks_, is_as_long)) {
        for (const Progress &one : ranks_)
            if (one.ended < last_ && one.left != never)
                end_ = std::max(end_, one.since + one.left + one.after_round());
        return;
    }
    known_ = ranks_;
    work_out(never);
    for (const Progress &one : ranks_)
        end_ = std::max(end_, one.end_of(last_ - 1));
}

void Collectives::work_out(Ns until) {
    for (bool goes_on = true; goes_on;) {
        goes_on = false;
        for (std::size_t rank = 0; rank < ranks_.size(); rank++)
            goes_on = end_next_round(rank, until) || goes_on;
    }
}

bool Collectives::end_next_round(std::size_t rank, Ns until) {
    Progress &one = ranks_[rank];
    if (!one.runs || one.ended == one.target || one.rounds == 0)
        return false;
    if (one.left == never) {
        const Progress &sender = ranks_[before(rank)], &receiver = ranks_[after(rank)];
        if (sender.ended < one.ended || one.ended - receiver.ended >= most_ahead)
            return false;
        one.begin_round(std::max(
            {one.since, sender.end_of(one.ended - 1), receiver.end_of(one.ended - most_ahead)}));
    }
    if (one.left > until - one.since) {
        one.left -= until - one.since;
        one.since = until;
        return false;
    }
    one.end_round(one.since + one.left);
    return true;
}

} // namespace simulation
