// SPDX-License-Identifier: MIT OR GPL-2.0
#include "splitter.hpp"

#include <algorithm>

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
      coarse_(std::max(1, tpcs / coarsest)), since_(now) {}

int Splitter::clamped(int own) const {
    return std::clamp(own, 1, tpcs_ - 1);
}

void Splitter::attempt(int own, Stage stage, Ns now) {
    stage_ = stage;
    tried_ = own;
    since_ = now;
    counts_ = false;
}

/// Smaller steps around the best, or the end.
void Splitter::narrow(Ns now) {
    stride_ /= 2;
    if (stride_ * finest < tpcs_) {
        begin_ = best_;
        coarse_ = std::max(1, tpcs_ / coarse_again);
        return attempt(best_rate_ > undivided_rate_ * worth ? best_ : 0, Stage::rests, now);
    }
    attempt(clamped(best_ - stride_), Stage::down, now);
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

void Splitter::step(Ns now, std::uint64_t ended, bool behind, bool disturbed) {
    if (stage_ == Stage::rests) {
        if (now - since_ >= times_.again)
            attempt(0, Stage::undivided, now);
        return;
    }
    if (disturbed) {
        // The attempt begins anew.
        since_ = now;
        counts_ = false;
        return;
    }
    if (!counts_) {
        const Ns passed = now - since_;
        if (passed < times_.settle || (behind && passed < times_.longest))
            return;
        counts_ = true;
        ended_ = ended;
        counted_at_ = now;
        return;
    }
    const Ns time = now - counted_at_;
    if (time >= times_.count && (!behind || time >= times_.longest))
        conclude(static_cast<double>(ended - ended_) / static_cast<double>(time), now);
}

} // namespace qos
