// SPDX-License-Identifier: MIT OR GPL-2.0
// Which process made which channel, as NVIDIA's driver tells it: the file `owners` of a GPU.
#ifndef NVDEBUG_DRIVER_OWNERS_HPP
#define NVDEBUG_DRIVER_OWNERS_HPP

#include <memory>
#include <string>

#include "kernel.hpp"
#include "nvdebug/error.hpp"
#include "rm.hpp"

namespace nvdebug::driver {

/**
 * The text (docs/nvdebugctl.md says what it is), of what find_owned() finds.
 */
Result<std::string> owners(const std::shared_ptr<Kernel> &kernel, const Card &card);

} // namespace nvdebug::driver

#endif
