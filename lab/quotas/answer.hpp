// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file What the quota machine did, as JSON (docs/quotas.md). */
#ifndef NVDEBUG_LAB_QUOTAS_ANSWER_HPP
#define NVDEBUG_LAB_QUOTAS_ANSWER_HPP

#include <string>

#include "replay.hpp"

namespace quotas {

/** @param epochs null: the case was not run */
std::string answer(const Case &one, const std::vector<qos::Epoch> *epochs);

} // namespace quotas

#endif
