// SPDX-License-Identifier: MIT OR GPL-2.0
#include "collective.hpp"

#include <algorithm>

namespace simulation {

bool Collectives::is_ready(std::size_t rank) const {
    const auto ended = ranks_[rank].ended;
    if (ranks_[rank].wait == Wait::end)
        return std::ranges::all_of(ranks_, [&](const Progress &one) { return one.ended >= ended; });
    return ranks_[before(rank)].ended >= ended && ended - ranks_[after(rank)].ended < most_ahead;
}

bool Collectives::try_to(Wait wait, std::size_t rank) {
    ranks_[rank].wait = wait;
    if (!is_ready(rank))
        return false;
    ranks_[rank].wait = Wait::none;
    return true;
}

bool Collectives::may_begin(std::size_t rank) {
    return try_to(Wait::round, rank);
}

bool Collectives::have_all_ended(std::size_t rank) {
    return try_to(Wait::end, rank);
}

void Collectives::end_round(std::size_t rank) {
    ranks_[rank].ended++;
    for (const std::size_t other : {before(rank), after(rank)})
        if (ranks_[other].wait != Wait::end)
            wake(other);
    for (std::size_t other = 0; other < ranks_.size(); other++)
        if (ranks_[other].wait == Wait::end)
            wake(other);
}

void Collectives::wake(std::size_t rank) {
    if (ranks_[rank].wait == Wait::none || !is_ready(rank))
        return;
    ranks_[rank].wait = Wait::none;
    awaited_.push_back(rank);
}

void Collectives::set_joined(std::size_t rank, bool joined, Ns time, Ns now) {
    if (ranks_[rank].joined == joined)
        return;
    if (joined_count_ == ranks_.size())
        joint_done_ += now - joint_since_;
    ranks_[rank].joined = joined;
    joined ? joined_count_++ : joined_count_--;
    if (joined)
        joint_time_ = std::max(joint_time_, time);
    if (joined_count_ == ranks_.size())
        joint_since_ = now;
    for (std::size_t other = 0; other < ranks_.size(); other++)
        awaited_.push_back(other); // joint_end() is another one
}

Ns Collectives::joint_end() const {
    return joined_count_ == ranks_.size() ? joint_since_ + joint_time_ - joint_done_ : never;
}

void Collectives::end_joint() {
    for (std::size_t rank = 0; rank < ranks_.size(); rank++) {
        ranks_[rank].ended++;
        ranks_[rank].joined = false;
        awaited_.push_back(rank);
    }
    joined_count_ = 0;
    joint_time_ = joint_done_ = 0;
}

} // namespace simulation
