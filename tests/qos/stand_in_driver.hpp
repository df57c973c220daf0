// SPDX-License-Identifier: MIT OR GPL-2.0
// NVIDIA's driver of programs that open it by Tree::driver() or Tree::running(). The linker replaces
// these functions by those of stand_in_driver.cpp (-Wl,--wrap).
#pragma once

#include "nvdebug/tree.hpp"

#include <functional>

namespace stand_in {

/// Opens the driver. The program sets it before its first call.
extern std::function<nvdebug::Tree()> open_driver;

} // namespace stand_in
