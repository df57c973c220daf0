// SPDX-License-Identifier: MIT OR GPL-2.0
#include "periods.hpp"

#include <algorithm>

namespace qos {

void Periods::add(const TenantTurn &turn, bool is_service) {
    const Ns away = left_ ? (is_service ? turn.begin : turn.end) - *left_ : 0;
    is_away_ = away > longest_pause;
    if (is_away_)
        returns_ = 0;
    if (!is_service) {
        has_neighbour_come_ = true;
        return;
    }
    returns_ += left_ && has_neighbour_come_ && !is_away_;
    is_away_ = has_neighbour_come_ = false;
    left_ = turn.ends ? std::optional(turn.end) : std::nullopt;
}

void Periods::mark(std::optional<bool> busy) {
    is_news_ = is_news_ || (busy && busy != marked_);
    marked_ = busy;
}

void Periods::lose() {
    left_.reset();
    returns_ = 0;
    is_away_ = false;
}

void Periods::enter(State state, Ns now) {
    if (state_ == State::held)
        held_until_ = now;
    if (state_ == State::open)
        began_ = now;
    state_ = state;
    since_ = now;
    if (state == State::probe) {
        has_neighbour_come_ = false;
        returns_ = 0;
    }
}

void Periods::step(Ns now, int returns, bool seen) {
    if (seen)
        looked_at_ = now;
    returns_for_hold_ = returns;
    if (returns == 0) {
        // A mark that waited here would have each next step due at once.
        is_news_ = false;
        if (state_ != State::open)
            enter(State::open, now);
        return;
    }
    if (is_news_ && now - since_ >= between_marks) {
        is_news_ = false;
        returns_ = 0;
        if (marked_ && *marked_ != (state_ != State::open))
            return enter(*marked_ ? State::held : State::open, now);
    }
    switch (state_) {
    case State::open:
        if (seen && returns_ >= returns && !is_away_)
            enter(State::held, now);
        return;
    case State::held:
        if (now - since_ >= until_probe())
            enter(State::probe, now);
        return;
    case State::probe:
        if (seen && returns_ > 0)
            enter(State::held, now);
        else if (seen && (is_away_ || now - since_ >= longest_probe))
            enter(State::open, now);
        return;
    }
}

Ns Periods::due() const {
    return is_news_ ? std::min(usual_due(), since_ + between_marks) : usual_due();
}

Ns Periods::usual_due() const {
    switch (state_) {
    case State::open:
        if (!has_period())
            return never;
        return looked_at_ +
               (returns_for_hold_ > returns_for_hold ? look_every_on_several : look_every);
    case State::held:
        return since_ + until_probe();
    case State::probe:
        return looked_at_ + look_in_probe;
    }
    return never;
}

} // namespace qos
