// SPDX-License-Identifier: MIT OR GPL-2.0
#include <exception>

#include "lib/base/inherited.hpp"
#include "run.hpp"
#include "simulate.hpp"

int main(int argc, char **argv) {
    nvdebug::base::make_inheritance_usable();
    nvdebug::base::survive_broken_pipes(); // an error of a write
    try {
        const std::vector<std::string> words(argv + 1, argv + argc);
        if (nvqos::is_simulation(words))
            return nvqos::simulate(words);
        return nvqos::run(words, [] {
            return nvdebug::Tree::driver(
                {.diagnose = "nvdebugctl doctor", .capture = "nvdebugctl capture FILE"});
        });
    } catch (const std::exception &error) {
        nvqos::warn(error.what());
    }
    return nvqos::failed;
}
