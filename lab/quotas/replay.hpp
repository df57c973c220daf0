// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file A case, run on the quota machine. */
#ifndef NVDEBUG_LAB_QUOTAS_REPLAY_HPP
#define NVDEBUG_LAB_QUOTAS_REPLAY_HPP

#include "cases.hpp"

namespace quotas {

/** Epochs, or why there are none: a sentence. */
struct Replayed {
    std::vector<qos::Epoch> epochs;
    std::string failure;
};

Replayed replay(const Case &one);

namespace limit {
/** Numbers of an answer's tables: an epoch may be as short as a cycle. */
inline constexpr std::size_t answer = 50'000'000;
} // namespace limit

} // namespace quotas

#endif
