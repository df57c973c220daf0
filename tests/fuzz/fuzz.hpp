// SPDX-License-Identifier: MIT OR GPL-2.0
// Helpers of all fuzz targets.
#ifndef NVDEBUG_TESTS_FUZZ_FUZZ_HPP
#define NVDEBUG_TESTS_FUZZ_FUZZ_HPP

#include <cstdio>
#include <cstdlib>

#include <fuzzer/FuzzedDataProvider.h>

/** Ends the process and prints the condition if it does not hold. It has to hold for any input. */
#define FUZZ_REQUIRE(condition)                                                                    \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            std::fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition);    \
            std::abort();                                                                          \
        }                                                                                          \
    } while (false)

#endif
