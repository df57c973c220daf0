// SPDX-License-Identifier: MIT OR GPL-2.0
// The name of an engine, from its type and instance.
#ifndef NVDEBUG_LIB_ENGINE_NAME_HPP
#define NVDEBUG_LIB_ENGINE_NAME_HPP

#include <cstdint>
#include <string>

namespace nvdebug {

/** As `engines` writes it: `GR0`; `COPY0`, whose type names the instance; `TYPE-7:0`. */
std::string engine_name(const std::string &type, std::uint32_t instance);

} // namespace nvdebug

#endif
