// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file Exact numbers in JSON: as numbers, or as texts like "3/4". */
#ifndef NVDEBUG_LAB_QUOTAS_NUMBERS_HPP
#define NVDEBUG_LAB_QUOTAS_NUMBERS_HPP

#include "lab/quotas/machine/number.hpp"
#include "lib/base/strict_json.hpp"

namespace quotas {

using nvdebug::base::Place;

/** All throw nvdebug::base::Wrong. */

/** A JSON number is the decimal fraction that is written, not the nearest binary one. */
qos::Rational rational(const Place &place, const qos::Rational &least);
/** Also as a text. */
std::int64_t count(const Place &place, std::int64_t least, std::int64_t most);
bool truth(const Place &place);
/** Is the key there with a value other than null? */
bool is_there(const Place &place, const char *key);

} // namespace quotas

#endif
