// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file
/// @brief tl::expected, with a warning where a result is discarded.
#pragma once

// Only the first declaration of a class can have attributes, so no other header includes
// tl/expected.hpp.
#ifndef TL_EXPECTED_HPP
namespace tl {
template <class T, class E>
class [[nodiscard]] expected;
}
#endif

#include <tl/expected.hpp>
