// SPDX-License-Identifier: MIT OR GPL-2.0
#include "programs/copy_engine.hpp"

#include "programs/copy_speed.hpp"

#include <algorithm>
#include <cmath>

namespace nvmodel {
namespace {

/// A double is not exact, so this many nanoseconds that are left count as done.
constexpr double rounding = 0.01;

} // namespace

void CopyEngine::set_current(std::vector<Current> current, double share) {
    current_ = std::move(current);
    share_ = current_.empty() ? 0 : share / static_cast<double>(current_.size());
    for (const Current &one : current_) {
        Operation &operation = *one.operation;
        const Copy &copy = *operation.copy;
        const Left all{cuda_copy_speed(copy.direction).setup_ns, static_cast<double>(copy.bytes)};
        if (left_.try_emplace(one.number, all).second)
            operation.began = operation.dispatched = now_;
    }
}

double CopyEngine::left_ns(const Current &one) const {
    const Left &left = left_.at(one.number);
    return (left.setup +
            left.bytes / cuda_copy_speed(one.operation->copy->direction).bytes_per_ns) /
           share_;
}

Ns CopyEngine::next_end() const {
    if (!working())
        return never;
    double least = left_ns(current_.front());
    for (const Current &one : current_)
        least = std::min(least, left_ns(one));
    return now_ + static_cast<Ns>(std::ceil(std::max(least - rounding, 0.0)));
}

void CopyEngine::progress(const Current &one, Ns to) {
    Left &left = left_.at(one.number);
    const double speed = cuda_copy_speed(one.operation->copy->direction).bytes_per_ns * share_;
    const auto passed = static_cast<double>(to - now_);
    const double setup = std::min(left.setup / share_, passed);
    left.setup -= setup * share_;
    const double bytes = std::min((passed - setup) * speed, left.bytes);
    if (bytes <= 0)
        return;
    left.bytes -= bytes;
    const Ns begin = now_ + static_cast<Ns>(setup);
    std::vector<CopyProgress> &all = one.operation->progress;
    // Progress at an unchanged speed extends the last record.
    if (!all.empty() && all.back().when.end == begin &&
        std::abs(all.back().bytes /
                     static_cast<double>(all.back().when.end - all.back().when.begin) -
                 speed) < 0.01 * speed) {
        all.back().when.end = to;
        all.back().bytes += bytes;
    } else {
        all.push_back({{begin, to}, bytes});
    }
}

void CopyEngine::advance(Ns to, std::vector<std::size_t> &ended) {
    if (working()) {
        for (const Current &one : current_)
            progress(one, to);
        std::erase_if(current_, [&](const Current &one) {
            if (left_ns(one) > 2 * rounding)
                return false;
            left_.erase(one.number);
            one.operation->ended = to;
            ended.push_back(one.number);
            return true;
        });
    }
    now_ = to;
}

} // namespace nvmodel
