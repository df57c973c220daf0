// SPDX-License-Identifier: MIT OR GPL-2.0
#pragma once

#include <memory>

#include "events.hpp"

namespace drawing {

/// Makes a trace for Perfetto, as packets of protobuf, one after the other.
[[nodiscard]] std::unique_ptr<TextSink> make_perfetto();

} // namespace drawing
