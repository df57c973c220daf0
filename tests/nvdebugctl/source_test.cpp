// SPDX-License-Identifier: MIT OR GPL-2.0
// What JSON calls the source of its data.
#include "cli/json.hpp"

#include <gtest/gtest.h>

namespace nvdebugctl {
namespace {

TEST(Source, IsOneOfFour) {
    EXPECT_EQ(source_kind(nvdebug::Source::module, false), "live");
    EXPECT_EQ(source_kind(nvdebug::Source::driver, true), "driver");
    EXPECT_EQ(source_kind(nvdebug::Source::file, false), "folder");
    EXPECT_EQ(source_kind(nvdebug::Source::file, true), "capture");
}

} // namespace
} // namespace nvdebugctl
