// SPDX-License-Identifier: MIT OR GPL-2.0
#include "device/violations.hpp"

#include <algorithm>

namespace nvmodel {

std::string_view name_of(Violation why) {
    switch (why) {
    case Violation::unmodelled:
        return "unmodelled";
    case Violation::write_only:
        return "write-only";
    case Violation::read_only:
        return "read-only";
    case Violation::size:
        return "size";
    case Violation::memory:
        return "memory";
    case Violation::side_effect:
        return "side-effect";
    case Violation::asleep:
        return "asleep";
    }
    return "?";
}

void Violations::note(const Access &access, Violation why) {
    const auto found = std::ranges::find_if(records_, [&](const Record &record) {
        return record.why == why && record.access.bar == access.bar &&
               record.access.offset == access.offset && record.access.size == access.size &&
               record.access.write == access.write;
    });
    if (found != records_.end())
        found->count += 1;
    else if (records_.size() < max_records)
        records_.push_back({access, why});
    else
        overflow_ += 1;
}

void Violations::reset() {
    records_.clear();
    overflow_ = 0;
}

} // namespace nvmodel
