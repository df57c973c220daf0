// SPDX-License-Identifier: MIT OR GPL-2.0
#include "device/random_reads.hpp"

#include "regs/pri.hpp"

#include <array>
#include <cmath>

namespace nvmodel {

std::optional<RandomReads::Kind> RandomReads::kind_of(std::string_view name) {
    if (name.empty())
        return Kind::any;
    if (name == "ones")
        return Kind::ones;
    if (name == "pri-error")
        return Kind::pri_error;
    if (name == "flip")
        return Kind::flip;
    return std::nullopt;
}

RandomReads::RandomReads(std::uint64_t seed, double rate, Kind kind)
    : random_(seed), limit_(rate < 1 ? static_cast<std::uint64_t>(std::ldexp(rate, 64)) : 0),
      always_(rate >= 1), kind_(kind) {}

std::optional<std::uint64_t> RandomReads::instead_of(std::uint64_t value, unsigned bits) {
    if (random_() >= limit_ && !always_)
        return std::nullopt;
    static constexpr std::array kinds{Kind::ones, Kind::pri_error, Kind::flip};
    switch (kind_ == Kind::any ? kinds[random_() % kinds.size()] : kind_) {
    case Kind::pri_error: {
        const std::uint64_t word =
            regs::pri::error_words[random_() % regs::pri::error_words.size()];
        return word << 32 | word;
    }
    case Kind::flip:
        return value ^ std::uint64_t{1} << random_() % bits;
    default:
        return ~std::uint64_t{0};
    }
}

} // namespace nvmodel
