// SPDX-License-Identifier: MIT OR GPL-2.0
#include "splitter.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace qos {
namespace {

/// A division has to leave the others so much more, as counts differ from time to time.
constexpr double worth = 1.03;
/// Steps are parts of the GPU: the first one of all, the first one of a later search, and the last.
constexpr int coarsest = 4, coarse_again = 8, finest = 24;

} // namespace

Splitter::Splitter(int tpcs, Part goal, Ns now, const Times &times)
    : times_(times), tpcs_(tpcs),
      begin_(clamped(static_cast<int>((tpcs * goal + whole - 1) / whole) + 1)),
      coarse_(std::max(1, tpcs / coarsest)), since_(now), at_(now) {}

int Splitter::clamped(int own) const {
    return std::clamp(own, 1, tpcs_ - 1);
}

void Splitter::attempt(int own, Stage stage, Ns now) {
    stage_ = stage;
    tried_ = own;
    since_ = now;
    counts_ = false;
    counted_ = 0;
    launches_ = 0;
}

/// Smaller steps around the best, or the end.
void Splitter::narrow(Ns now) {
    stride_ /= 2;
    if (stride_ * finest < tpcs_)
        return end(now);
    attempt(clamped(best_ - stride_), Stage::down, now);
}

/// A search costs the others a part of their launches, so that it is made again only as often as
/// its result changes.
void Splitter::end(Ns now) {
    const int found = best_rate_ > undivided_rate_ * worth ? best_ : 0;
    const bool is_same =
        found_ &&
        (found && *found_ ? std::abs(found - *found_) * finest <= tpcs_ * 2 : found == *found_);
    rest_ = is_same ? std::min(2 * rest_, times_.rarest) : times_.again;
    found_ = found;
    begin_ = best_;
    coarse_ = std::max(1, tpcs_ / coarse_again);
    attempt(found, Stage::rests, now);
}

void Splitter::conclude(double rate, Ns now) {
    const bool is_better = rate > best_rate_ * worth;
    if (is_better && stage_ != Stage::undivided) {
        best_ = tried_;
        best_rate_ = rate;
    }
    switch (stage_) {
    case Stage::undivided:
        undivided_rate_ = rate;
        best_rate_ = 0;
        stride_ = coarse_;
        return attempt(begin_, Stage::first, now);
    case Stage::first:
        return attempt(clamped(best_ - stride_), Stage::down, now);
    case Stage::down:
        if (is_better && clamped(best_ - stride_) != best_)
            return attempt(clamped(best_ - stride_), Stage::down, now);
        return is_better ? narrow(now) : attempt(clamped(best_ + stride_), Stage::up, now);
    case Stage::up:
        if (is_better && clamped(best_ + stride_) != best_)
            return attempt(clamped(best_ + stride_), Stage::up, now);
        return narrow(now);
    case Stage::rests:
        return;
    }
}

void Splitter::step(Ns now, std::uint64_t ended, Others others) {
    const Ns passed = now - std::exchange(at_, now);
    const std::uint64_t launches = ended - std::exchange(ended_, ended);
    if (stage_ == Stage::rests) {
        if (now - since_ >= rest_)
            attempt(0, Stage::undivided, now);
        return;
    }
    if (others == Others::idle)
        return attempt(tried_, stage_, now);
    const Ns length = now - since_;
    if (!counts_) {
        counts_ = length >= times_.settle && (others == Others::launch || length >= times_.longest);
        return;
    }
    if (others != Others::look) {
        counted_ += passed;
        launches_ += launches;
    }
    const bool is_enough = counted_ >= times_.count && others == Others::launch;
    if (is_enough || length >= 3 * times_.longest)
        conclude(static_cast<double>(launches_) / static_cast<double>(std::max<Ns>(1, counted_)),
                 now);
}

} // namespace qos
