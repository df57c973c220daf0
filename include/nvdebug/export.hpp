// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file
/// @brief What the shared library shows to its users.
#pragma once

/// Marks what the shared library shows.
#define NVDEBUG_API __attribute__((visibility("default")))
