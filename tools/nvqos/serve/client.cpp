// SPDX-License-Identifier: MIT OR GPL-2.0
#include "client.hpp"

#include "lib/base/nvqos_client.hpp"

namespace nvqos {

Outcome<std::string> ask(const std::string &path, const std::string &line,
                         std::chrono::seconds patience) {
    return nvdebug::base::ask_nvqos(path, line, patience).map_error([](const auto &error) {
        return Failure{error.exit, error.sentence};
    });
}

} // namespace nvqos
