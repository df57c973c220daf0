// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Why goals cannot be kept together, in a sentence.
#pragma once

#include <string>

#include "goals.hpp"
#include "lib/qos/admission.hpp"

namespace nvqos {

/// With the numbers, the tenants, and what to ask for instead.
std::string refusal_of(const qos::Conflict &conflict, const Asked &asked);

} // namespace nvqos
