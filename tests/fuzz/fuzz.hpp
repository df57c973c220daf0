// SPDX-License-Identifier: MIT OR GPL-2.0
// What fuzz targets share.
#ifndef NVDEBUG_TESTS_FUZZ_FUZZ_HPP
#define NVDEBUG_TESTS_FUZZ_FUZZ_HPP

#include <cstdio>
#include <cstdlib>

#include <fuzzer/FuzzedDataProvider.h>

/** A property that has to hold whatever the input is: ends the process with what did not. */
#define FUZZ_REQUIRE(condition)                                                                    \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            std::fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition);    \
            std::abort();                                                                          \
        }                                                                                          \
    } while (false)

#endif
