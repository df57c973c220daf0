// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file The tool, but for main(). */
#ifndef NVDEBUGCTL_RUN_HPP
#define NVDEBUGCTL_RUN_HPP

#include <string>
#include <vector>

namespace nvdebugctl {

/** @return the exit status */
int run(std::vector<std::string> words);

} // namespace nvdebugctl

#endif
