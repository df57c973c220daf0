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

TEST(CInterface, OnlyThatIsOutOfMemory) {
    nvd_error *const error = nvdebug::c::guarded([]() -> nvd_error * { throw 1; });
    ASSERT_NE(error, nullptr);
    EXPECT_EQ(nvd_error_errno(error), 0);
    EXPECT_EQ(std::string(nvd_error_sentence(error)).find("out of memory"), std::string::npos);
    nvd_error_destroy(error);
}

TEST(CInterface, NullIsInvalid) {
    const fixture::Board board("a100", "mixed");
    nvd_tree *tree = nullptr;
    nvd_gpu *gpu = nullptr;
    nvd_engines *engines = nullptr;
    std::size_t count;
    int shared;
    const std::string path = board.folder().path().string();
    ASSERT_EQ(nvd_tree_open(path.c_str(), &tree), nullptr);
    ASSERT_EQ(nvd_gpu_create(tree, 0, &gpu), nullptr);
    ASSERT_EQ(nvd_engines_read(gpu, &engines), nullptr);
    for (nvd_error *const error :
         {nvd_tree_open(nullptr, &tree), nvd_tree_open(path.c_str(), nullptr),
          nvd_tree_gpus(tree, nullptr, 1, &count), nvd_gpu_create(nullptr, 0, &gpu),
          nvd_gpu_identity(gpu, nullptr), nvd_runlist_read(gpu, 0, nullptr),
          nvd_engines_get(engines, 0, nullptr),
          nvd_engines_share_runlist(engines, "GR0", nullptr, &shared),
          nvd_channels_disable(gpu, nullptr, 1), nvd_channels_enable(nullptr, nullptr, 0)}) {
        ASSERT_NE(error, nullptr);
        EXPECT_EQ(nvd_error_code(error), NVD_INVALID);
        EXPECT_NE(std::string(nvd_error_sentence(error)).find("NULL"), std::string::npos);
        nvd_error_destroy(error);
    }
    nvd_engines_destroy(engines);
    nvd_gpu_destroy(gpu);
    nvd_tree_destroy(tree);
}

TEST(CInterface, CodesAreThoseOfTheLibrary) {
    EXPECT_EQ(static_cast<int>(NVD_NOT_FOUND), static_cast<int>(nvdebug::ErrorCode::not_found));
    EXPECT_EQ(static_cast<int>(NVD_INVALID), static_cast<int>(nvdebug::ErrorCode::invalid));
    EXPECT_EQ(static_cast<int>(NVD_MALFORMED), static_cast<int>(nvdebug::ErrorCode::malformed));
}

} // namespace
