// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file Numbers of channels, TSGs and runlists as a person writes many of them. */
#ifndef NVDEBUGCTL_IDS_HPP
#define NVDEBUGCTL_IDS_HPP

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace nvdebugctl {

/** In the order given, runs of consecutive ids folded: `0-7, 9, 20-22`. */
std::string fold_ids(std::span<const std::uint32_t> ids);

/** `1 channel`, `3 channels`, `2 address spaces`. */
std::string count_of(std::size_t count, std::string_view singular);

} // namespace nvdebugctl

#endif
