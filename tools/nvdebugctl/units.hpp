// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file How a value of the JSON data is shown to a person: its key tells the unit. */
#ifndef NVDEBUGCTL_UNITS_HPP
#define NVDEBUGCTL_UNITS_HPP

#include <string>
#include <string_view>

#include "document.hpp"

namespace nvdebugctl {

/** `timeslice_us` without its unit. */
std::string_view without_unit(std::string_view key);
/** `31.2%`, `<0.1%`, `0%`. */
std::string shown_percent(double percent);
/** `1998.848us`, `40GiB`, `yes`, `-` for null; the elements of an array with `,` between. */
std::string shown(std::string_view key, const Json &value);

} // namespace nvdebugctl

#endif
