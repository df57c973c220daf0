// SPDX-License-Identifier: MIT OR GPL-2.0
// What programs do on the modelled GPU, and each rule broken once.
#include "programs/programs.hpp"

#include "support.hpp"

#include <gtest/gtest.h>

namespace nvmodel {
namespace {

constexpr Ns us = ns_per_us;
constexpr Ns ms = 1000 * us;

TEST(Programs, KernelEnds) {
    Programs programs(board("h200"), {{.name = "a"}});
    const auto stream = programs.open_stream(0);
    const auto kernel = programs.launch(stream, {.blocks = 4, .block = 5 * ms});
    EXPECT_TRUE(programs.wait(kernel, 100 * ms));
    EXPECT_EQ(programs.operation(kernel).blocks.size(), 4U);
}

} // namespace
} // namespace nvmodel
