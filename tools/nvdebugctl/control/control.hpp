// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Carries out a request and makes the control's document: old state, the write, new state,
/// the lease.
#pragma once

#include <functional>
#include <optional>

#include "lease_time.hpp"
#include "observe.hpp"

namespace nvdebugctl {

/// Returns a new request for a lease; an empty one leaves the lease unchanged.
using Renew = std::function<std::optional<nvdebug::Request>()>;

/// Carries out a request, as a dry run or a lease if the options demand it. With @p renew the
/// request is always leased, and @p renew is called once a second for a new request.
[[nodiscard]] Outcome<Document> carry_out(Context &context, const nvdebug::Request &request,
                                          const Observe &observe, const Renew &renew = nullptr);

/// Prints a control's document as text.
void show_control(const Json &data, Page &page);

} // namespace nvdebugctl
