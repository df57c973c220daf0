// SPDX-License-Identifier: MIT OR GPL-2.0
#include "read_ahead.hpp"

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

namespace nvdebug::driver {
namespace {

/// Marks a read of memory among the offsets of a plan.
constexpr std::uint32_t memory = ~0U;

} // namespace

void ReadAhead::begin(Plan plan) {
    plan_ = std::move(plan);
    next_ = 0;
    values_.clear();
    used_ = 0;
    asked_.clear();
    kept_.clear();
}

ReadAhead::Plan ReadAhead::end() {
    Plan plan = kept_.size() > 2 * asked_.size() ? std::move(asked_) : std::move(kept_);
    begin({});
    return plan;
}

void ReadAhead::expect_no_more() {
    expected_.clear();
    announced_.clear();
}

void ReadAhead::drop() {
    next_ += used_;
    values_.clear();
    used_ = 0;
}

/// Skips the registers that are planned before @p at. They stay in the plan, since the next read
/// may need them: an engine that is idle now may be busy then.
void ReadAhead::skip_to(std::size_t at) {
    const auto skipped = std::span(plan_).subspan(next_ + used_, at - next_ - used_);
    std::ranges::remove_copy(skipped, std::back_inserter(kept_), memory);
}

void ReadAhead::memory_is_read() {
    drop();
    asked_.push_back(memory);
    kept_.push_back(memory);
}

bool ReadAhead::foresaw(Words &words, std::uint32_t offset, std::uint32_t *value) {
    const auto begin = plan_.begin() + static_cast<std::ptrdiff_t>(next_ + used_);
    const auto found = std::find(begin, plan_.end(), offset);
    if (found == plan_.end()) {
        drop();
        return false;
    }
    const auto at = static_cast<std::size_t>(found - plan_.begin());
    skip_to(at);
    if (at >= next_ + values_.size()) {
        next_ = at;
        used_ = 0;
        const auto end = std::find(found, plan_.end(), memory);
        values_.resize(std::min<std::size_t>(end - found, rm::RegisterOps::most));
        if (!words.registers(std::span(plan_).subspan(next_, values_.size()), values_)) {
            values_.clear();
            return false;
        }
    }
    used_ = at + 1 - next_;
    *value = values_[used_ - 1];
    return true;
}

bool ReadAhead::was_announced(std::uint32_t offset, std::uint32_t *value) {
    while (!announced_.empty()) {
        const auto [at, was] = announced_.front();
        announced_.pop_front();
        *value = was;
        if (at == offset)
            return true;
    }
    return false;
}

Result<std::uint32_t> ReadAhead::read(Words &words, std::uint32_t offset) {
    std::uint32_t value = 0;
    const bool foreseen = foresaw(words, offset, &value);
    asked_.push_back(offset);
    kept_.push_back(offset);
    const auto expected = std::ranges::find(expected_, offset);
    if (foreseen) {
        announced_.clear();
        if (expected != expected_.end())
            expected_.erase(expected);
        return value;
    }
    if (expected != expected_.end()) {
        const std::vector<std::uint32_t> offsets = std::exchange(expected_, {});
        std::vector<std::uint32_t> values(offsets.size());
        if (auto done = words.registers(offsets, values); !done)
            return tl::unexpected(std::move(done).error());
        announced_.clear();
        for (std::size_t i = 0; i < offsets.size(); i++)
            announced_.emplace_back(offsets[i], values[i]);
    }
    if (was_announced(offset, &value))
        return value;
    if (auto done = words.registers({&offset, 1}, {&value, 1}); !done)
        return tl::unexpected(std::move(done).error());
    return value;
}

} // namespace nvdebug::driver
