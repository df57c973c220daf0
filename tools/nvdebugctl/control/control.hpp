// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file From a request to the document of a control: old state, the write, new state, the lease.
#pragma once

#include <functional>
#include <optional>

#include "lease_time.hpp"
#include "observe.hpp"

namespace nvdebugctl {

/// What a lease is to be of now; empty: what it is of.
using Renew = std::function<std::optional<nvdebug::Request>()>;

/// Carries out a request, as a dry run or a lease if the options demand it. With @p renew it is a
/// lease in any case, of the request that @p renew returns each second.
[[nodiscard]] Outcome<Document> carry_out(Context &context, const nvdebug::Request &request,
                                          const Observe &observe, const Renew &renew = nullptr);

/// Prints a control's document as text.
void show_control(const Json &data, Page &page);

} // namespace nvdebugctl
