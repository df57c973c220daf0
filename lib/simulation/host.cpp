// SPDX-License-Identifier: MIT OR GPL-2.0
#include "host.hpp"

#include <algorithm>
#include <utility>

namespace simulation {

std::size_t Host::add(std::optional<std::int64_t> timeslice_us) {
    tsgs_.push_back({timeslice_us.value_or(gpus_.timeslice_us) * gpus_.timeslice_unit});
    return tsgs_.size() - 1;
}

bool Host::others_want() const {
    return wanting_ > (on_ && tsgs_[*on_].wants() ? 1U : 0U);
}

void Host::follow_slices(Ns now) {
    if (on_ && gpus_.slices_follow && !others_want())
        slice_begin_ += (now - slice_begin_) / tsgs_[*on_].timeslice * tsgs_[*on_].timeslice;
}

void Host::set_work(std::size_t tsg, bool has_work, Ns now) {
    follow_slices(now);
    Tsg &one = tsgs_[tsg];
    const bool wanted = one.wants();
    one.has_work = has_work;
    if (wanted == one.wants())
        return;
    wanted ? wanting_-- : wanting_++;
    judge(now);
}

void Host::remove(std::size_t tsg, Ns now) {
    set_work(tsg, false, now);
    tsgs_[tsg].interrupted = false;
    if (on_ == tsg)
        leave(now);
}

void Host::set_paused(std::size_t tsg, bool paused, Ns now) {
    follow_slices(now);
    Tsg &one = tsgs_[tsg];
    const bool wanted = one.wants();
    one.paused = paused;
    if (wanted != one.wants())
        wanted ? wanting_-- : wanting_++;
    if (on_ == tsg && paused)
        leave(now);
    judge(now);
}

void Host::set_timeslice(std::size_t tsg, std::int64_t driver_us, Ns now) {
    tsgs_[tsg].timeslice = driver_us * gpus_.timeslice_unit;
    if (on_ == tsg && !leaves_at_) {
        slice_begin_ = now;
        judge(now);
    }
}

void Host::leave(Ns now) {
    Tsg &one = tsgs_[*on_];
    one.interrupted = one.has_work;
    turns_.push_back({*on_, turn_begin_, now, true});
    last_ = *on_;
    on_.reset();
    leaves_at_.reset();
    free_at_ = now + gpus_.switching;
}

void Host::begin(Ns now) {
    const std::size_t first = had_turn_ ? last_ + 1 : 0;
    for (std::size_t n = 0; n < tsgs_.size() && !on_; n++)
        if (const std::size_t next = (first + n) % tsgs_.size(); tsgs_[next].wants())
            on_ = next;
    had_turn_ = true;
    turn_begin_ = slice_begin_ = now;
    resumed_at_ = now + (std::exchange(tsgs_[*on_].interrupted, false) ? gpus_.resume : 0);
    is_resumed_ = resumed_at_ <= now;
}

void Host::judge(Ns now) {
    if (on_ && !leaves_at_ && others_want()) {
        if (!tsgs_[*on_].has_work)
            leave(now);
        else if (now >= slice_end())
            leaves_at_ = now + gpus_.late;
    }
    if (on_ && leaves_at_ && *leaves_at_ <= now)
        leave(now);
    if (!on_ && wanting_ > 0 && now >= free_at_)
        begin(now);
}

Ns Host::due() const {
    if (!on_)
        return wanting_ > 0 ? free_at_ : never;
    if (leaves_at_)
        return *leaves_at_;
    const Ns resumed = is_resumed_ ? never : resumed_at_;
    return others_want() ? std::min(resumed, slice_end()) : resumed;
}

void Host::step(Ns now) {
    is_resumed_ = is_resumed_ || (on_ && now >= resumed_at_);
    judge(now);
}

std::optional<std::size_t> Host::progressing() const {
    return is_resumed_ && !leaves_at_ ? on_ : std::nullopt;
}

std::optional<std::size_t> Host::holder() const {
    return on_ && tsgs_[*on_].has_work ? on_ : std::nullopt;
}

std::vector<Turn> Host::take_turns() {
    return std::exchange(turns_, {});
}

std::optional<Turn> Host::split(Ns now) {
    if (!on_ || now <= turn_begin_)
        return std::nullopt;
    return Turn{*on_, std::exchange(turn_begin_, now), now, false};
}

} // namespace simulation
