// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file Runs a case on the quota machine. */
#ifndef NVDEBUG_LAB_QUOTAS_REPLAY_HPP
#define NVDEBUG_LAB_QUOTAS_REPLAY_HPP

#include "cases.hpp"

namespace quotas {

/** The epochs of a case, or a sentence that says why it has none. */
struct Replayed {
    std::vector<qos::Epoch> epochs;
    std::string failure;
};

Replayed replay(const Case &one);

namespace limit {
/** The most numbers in an answer's tables. A limit is needed, as an epoch may be one cycle long. */
inline constexpr std::size_t answer = 50'000'000;
} // namespace limit

} // namespace quotas

#endif
