// SPDX-License-Identifier: MIT OR GPL-2.0
#pragma once

#include <memory>

#include "events.hpp"

namespace drawing {

/// Makes a sink that writes a trace for Perfetto, as a sequence of protobuf packets.
[[nodiscard]] std::unique_ptr<TextSink> make_perfetto();

} // namespace drawing
