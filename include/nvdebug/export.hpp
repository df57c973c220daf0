// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file
/// @brief Marks the functions and classes that the shared library exports.
#pragma once

/// Exports the function or class from the shared library.
#define NVDEBUG_API __attribute__((visibility("default")))
