// SPDX-License-Identifier: MIT OR GPL-2.0
#include "pacing.hpp"

#include <algorithm>

namespace nvqos {

using qos::Ns;

bool Pacing::set(const std::vector<Speed> &speeds, bool divides_tpcs, Ns now) {
    if (divides_tpcs == divides_tpcs_ && std::ranges::equal(speeds, rows_, {}, {}, &Row::speed))
        return false;
    divides_tpcs_ = divides_tpcs;
    rows_.clear();
    std::vector<qos::Part> parts;
    for (const Speed &speed : speeds) {
        rows_.push_back({speed});
        parts.push_back(speed.part);
    }
    pacer_.reset();
    division_.reset();
    if (!parts.empty())
        pacer_.emplace(parts, now);
    return true;
}

void Pacing::divide(int tpcs, Ns now) {
    division_.emplace(tpcs, rows_.front().speed.part, now);
}

std::size_t Pacing::number_of(std::size_t tenant) const {
    return static_cast<std::size_t>(
        std::ranges::find(rows_, tenant, [](const Row &row) { return row.speed.tenant; }) -
        rows_.begin());
}

void Pacing::add(std::size_t tenant, const LaunchCount::Progress &progress, Ns ended_at) {
    qos::Launched &all = rows_[number_of(tenant)].launched;
    all.launched += progress.launched;
    all.ended += progress.ended;
    all.waits = all.waits || progress.waits;
    all.ended_at = std::max(all.ended_at, ended_at);
}

void Pacing::add_ended(std::size_t tenant, std::uint64_t launches) {
    if (const std::size_t n = number_of(tenant); n < rows_.size())
        rows_[n].launched.ended += launches;
}

void Pacing::others_changed() {
    if (division_)
        division_->others_changed();
}

void Pacing::begin_step() {
    for (Row &row : rows_)
        row.launched.waits = false;
}

void Pacing::step(Ns now, bool drained, bool others) {
    std::vector<qos::Launched> launched;
    for (const Row &row : rows_)
        launched.push_back(row.launched);
    pacer_->step(now, launched, drained, others, !division_ || division_->is_whole());
    if (division_)
        division_->step(now, {launched.front(), others_ended_, drained, others}, *pacer_);
}

bool Pacing::holds_others() const {
    return division_ ? division_->holds_others() : pacer_ && pacer_->holds_others();
}

std::optional<Pace> Pacing::pace(std::size_t tenant) const {
    const std::size_t n = number_of(tenant);
    if (n == rows_.size())
        return std::nullopt;
    return Pace{pacer_->speed(n), pacer_->alone(n), division_ ? division_->split() : 0};
}

} // namespace nvqos
