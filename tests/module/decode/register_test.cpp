// SPDX-License-Identifier: MIT OR GPL-2.0
// The words that the register bus gives in place of a value.
#include <cerrno>

#include <gtest/gtest.h>

#include "decode/register.h"

namespace {

TEST(Register, ErrorsOfTheBus) {
    EXPECT_EQ(nvdebug_reg_value_check(0xFFFFFFFF), -ENODEV);
    for (std::uint32_t word : {0xBADF1100u, 0xBADF5040u, 0xBAD00000u, 0xBADFFFFFu})
        EXPECT_EQ(nvdebug_reg_value_check(word), -EIO) << word;
    for (std::uint32_t word : {0u, 1u, 0xFFFFFFFEu, 0xBACFFFFFu, 0xBAE00000u})
        EXPECT_EQ(nvdebug_reg_value_check(word), 0) << word;
}

// An error word is not accepted as the expected word, even if both are equal.
TEST(Register, WordIsCheckedBeforeItIsWritten) {
    EXPECT_EQ(nvdebug_word_check(5, 5), 0);
    EXPECT_EQ(nvdebug_word_check(6, 5), -EBUSY);
    for (std::uint32_t word : {0xFFFFFFFFu, 0xBADF1100u}) {
        EXPECT_EQ(nvdebug_word_check(word, 5), -EIO);
        EXPECT_EQ(nvdebug_word_check(word, word), -EIO);
    }
}

} // namespace
