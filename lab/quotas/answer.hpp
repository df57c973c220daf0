// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file Answers of the quota machine as JSON (docs/quotas.md). */
#ifndef NVDEBUG_LAB_QUOTAS_ANSWER_HPP
#define NVDEBUG_LAB_QUOTAS_ANSWER_HPP

#include <string>

#include "replay.hpp"

namespace quotas {

/** Returns the answer to a case. @param epochs null if the case was not run */
std::string answer(const Case &one, const std::vector<qos::Epoch> *epochs);

} // namespace quotas

#endif
