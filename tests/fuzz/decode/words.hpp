// SPDX-License-Identifier: MIT OR GPL-2.0
// Words for decoders, in memory of their exact length, so that reading a word too many is seen.
#ifndef NVDEBUG_TESTS_FUZZ_DECODE_WORDS_HPP
#define NVDEBUG_TESTS_FUZZ_DECODE_WORDS_HPP

#include <cstring>
#include <vector>

#include <linux/types.h>

#include "fuzz.hpp"

namespace fuzz {

inline std::vector<u32> words(FuzzedDataProvider &input, size_t count) {
    const std::vector<uint8_t> bytes = input.ConsumeBytes<uint8_t>(count * sizeof(u32));
    std::vector<u32> found(bytes.size() / sizeof(u32));
    if (!found.empty())
        std::memcpy(found.data(), bytes.data(), found.size() * sizeof(u32));
    return found;
}

inline std::vector<u32> all_words(FuzzedDataProvider &input) {
    return words(input, input.remaining_bytes() / sizeof(u32));
}

/** Returns true if two structures have the same bytes. Both must have been zeroed as a whole
 * before. */
template <typename T>
bool same_bytes(const T &a, const T &b) {
    return std::memcmp(&a, &b, sizeof(T)) == 0;
}

} // namespace fuzz

#endif
