// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file What surrounds the data in JSON. */
#ifndef NVDEBUGCTL_JSON_ENVELOPE_HPP
#define NVDEBUGCTL_JSON_ENVELOPE_HPP

#include <string>

#include "context.hpp"

namespace nvdebugctl {

Json envelope(const Context &context, const Json &data);
/** @param context is nullptr where the command line was not understood that far. */
Json error_document(const Context *context, const Failure &failure);
/** On one line, or with line breaks. */
std::string to_text(const Json &document, bool pretty);
Json error_to_json(const nvdebug::Error &error);

} // namespace nvdebugctl

#endif
