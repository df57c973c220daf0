// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file A helper for lists that several commands' tables share.
#pragma once

#include <vector>

namespace nvdebugctl {

/// Returns @p list with @p more at its end.
template <typename T>
[[nodiscard]] std::vector<T> joined(std::vector<T> list, const std::vector<T> &more) {
    list.insert(list.end(), more.begin(), more.end());
    return list;
}

} // namespace nvdebugctl
