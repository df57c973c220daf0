// SPDX-License-Identifier: MIT OR GPL-2.0
#include "failure.hpp"

#include "lib/cli/message.hpp"

namespace nvqos {

void warn(const std::string &sentence) {
    nvdebug::cli::say("nvqos", sentence);
}

} // namespace nvqos
