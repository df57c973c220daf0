// SPDX-License-Identifier: MIT OR GPL-2.0
#include <csignal>
#include <cstdio>
#include <exception>

#include "run.hpp"

int main(int argc, char **argv) {
    // A pipe that nobody reads is an error of write(), so that nothing is left half undone.
    std::signal(SIGPIPE, SIG_IGN);
    try {
        return nvdebugctl::run({argv + 1, argv + argc});
    } catch (const std::exception &error) {
        std::fprintf(stderr, "nvdebugctl: %s\n", error.what());
        return 2;
    }
}
