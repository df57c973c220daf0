// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file Reads exact numbers from JSON, where they are numbers or texts like "3/4". */
#ifndef NVDEBUG_LAB_QUOTAS_NUMBERS_HPP
#define NVDEBUG_LAB_QUOTAS_NUMBERS_HPP

#include "lab/quotas/machine/number.hpp"
#include "lib/base/strict_json.hpp"

namespace quotas {

using nvdebug::base::Place;

/** All functions throw nvdebug::base::Wrong. */

/** Reads a rational number. A JSON number has its written decimal value, not the nearest binary
 * one. */
qos::Rational rational(const Place &place, const qos::Rational &least);
/** Reads a whole number, which may also be a text. */
std::int64_t count(const Place &place, std::int64_t least, std::int64_t most);
bool truth(const Place &place);
/** Returns whether the key is there with a value other than null. */
bool is_there(const Place &place, const char *key);

} // namespace quotas

#endif
