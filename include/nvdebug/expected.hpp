// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file
/// @brief tl::expected, with a warning where a value of it is discarded.
#pragma once

// Only a class's first declaration takes attributes, so no other header includes the library's.
#ifndef TL_EXPECTED_HPP
namespace tl {
template <class T, class E>
class [[nodiscard]] expected;
}
#endif

#include <tl/expected.hpp>
