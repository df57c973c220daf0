// SPDX-License-Identifier: MIT OR GPL-2.0
#include <exception>

#include "lib/base/inherited.hpp"
#include "run.hpp"

int main(int argc, char **argv) {
    nvdebug::base::make_inheritance_usable();
    nvdebug::base::survive_broken_pipes(); // an error of a write
    try {
        return nvqos::run({argv + 1, argv + argc}, [] {
            return nvdebug::Tree::driver(
                {.diagnose = "nvdebugctl doctor", .capture = "nvdebugctl capture FILE"});
        });
    } catch (const std::exception &error) {
        nvqos::warn(error.what());
    }
    return nvqos::failed;
}
