// SPDX-License-Identifier: MIT OR GPL-2.0
#include <gtest/gtest.h>

#include <cerrno>
#include <cstdlib>
#include <new>

#include "c_api.hpp"
#include "fixture.hpp"

namespace {

TEST(CInterface, FromAProgramInC) {
    const fixture::Board board("a100", "mixed");
    const std::string command = C_API_PROGRAM " " + board.folder().path().string();
    EXPECT_EQ(std::system(command.c_str()), 0);
}

TEST(CInterface, OutOfMemoryIsAnErrorToo) {
    nvd_error *const error = nvdebug::c::guarded([]() -> nvd_error * { throw std::bad_alloc(); });
    ASSERT_NE(error, nullptr);
    EXPECT_EQ(nvd_error_code(error), NVD_IO);
    EXPECT_EQ(nvd_error_errno(error), ENOMEM);
    EXPECT_STREQ(nvd_error_path(error), "");
    EXPECT_NE(std::string(nvd_error_sentence(error)).find("out of memory"), std::string::npos);
    nvd_error_destroy(error);
    EXPECT_EQ(nvd_error_errno(error), ENOMEM); // it is still there
}

TEST(CInterface, CodesAreThoseOfTheLibrary) {
    EXPECT_EQ(static_cast<int>(NVD_NOT_FOUND), static_cast<int>(nvdebug::ErrorCode::not_found));
    EXPECT_EQ(static_cast<int>(NVD_INVALID), static_cast<int>(nvdebug::ErrorCode::invalid));
    EXPECT_EQ(static_cast<int>(NVD_MALFORMED), static_cast<int>(nvdebug::ErrorCode::malformed));
}

} // namespace
