// SPDX-License-Identifier: MIT OR GPL-2.0
#include "collective.hpp"

#include <algorithm>

namespace simulation {

bool Collectives::have_all_ended(std::int64_t rounds) const {
    return std::ranges::all_of(ended_, [&](std::int64_t one) { return one >= rounds; });
}

bool Collectives::may_begin(std::size_t rank, bool is_first) const {
    const std::int64_t next = ended_[rank];
    return (is_first || ended_[before(rank)] >= next) && next - ended_[after(rank)] < most_ahead;
}

void Collectives::end_round(std::size_t rank, bool is_last) {
    ended_[rank]++;
    if (is_last)
        return await_all();
    awaited_.push_back(before(rank));
    awaited_.push_back(after(rank));
}

void Collectives::set_joined(std::size_t rank, bool joined, Ns time, Ns now) {
    if (joined_[rank] == joined)
        return;
    const bool were_all = joined_count_ == joined_.size();
    joined_[rank] = joined;
    joined ? joined_count_++ : joined_count_--;
    if (joined)
        joint_time_ = std::max(joint_time_, time);
    if (were_all)
        joint_done_ += now - joint_since_;
    if (joined_count_ == joined_.size())
        joint_since_ = now;
    await_all();
}

Ns Collectives::joint_end() const {
    return joined_count_ == joined_.size() ? joint_since_ + joint_time_ - joint_done_ : never;
}

void Collectives::end_joint() {
    for (std::size_t rank = 0; rank < ended_.size(); rank++) {
        ended_[rank]++;
        joined_[rank] = false;
    }
    joined_count_ = 0;
    joint_time_ = joint_done_ = 0;
    await_all();
}

void Collectives::await_all() {
    for (std::size_t rank = 0; rank < ended_.size(); rank++)
        awaited_.push_back(rank);
}

} // namespace simulation
