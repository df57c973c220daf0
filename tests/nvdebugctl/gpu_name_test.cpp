// SPDX-License-Identifier: MIT OR GPL-2.0
#include <gtest/gtest.h>

#include "lib/base/gpu_name.hpp"

using namespace nvdebug::base;

TEST(GpuName, IsAnAddressInEachForm) {
    for (const char *same : {"0000:3b:00.0", "00000000:3B:00.0", "0000:3B:00.0", "3b:00.0",
                             "3B:00.0", "3b:0.0", "3b:0", "0:3b:0.0"}) {
        const GpuName name = parse_gpu_name(same);
        ASSERT_TRUE(name.address) << same;
        EXPECT_TRUE(is_address(*name.address, "0000:3b:00.0")) << same;
        EXPECT_FALSE(is_address(*name.address, "0000:3c:00.0")) << same;
        EXPECT_FALSE(is_address(*name.address, "0000:3b:01.0")) << same;
        EXPECT_FALSE(name.index) << same;
    }
    EXPECT_TRUE(is_address(*parse_pci_address("10000:01:00.0"), "10000:01:00.0"));
    EXPECT_FALSE(is_address(*parse_pci_address("0000:01:00.0"), "10000:01:00.0"));
    EXPECT_FALSE(is_address(*parse_pci_address("01:00.1"), "0000:01:00.0"));
    EXPECT_TRUE(is_address(*parse_pci_address("01:00.0"), "10000:01:00.0")) << "any domain";
    for (const char *none : {"", ":", "::", "3b", "3b:", ":00.0", "3b:00.", "3b:00.8", "3b:20.0",
                             "13b:00.0", "0000:3b:00.0:1", "000000000:3b:00.0", "-1:00.0",
                             "3b:00.0 ", "0x3b:00.0", "+3:00.0", "3b:00.0.0"})
        EXPECT_FALSE(parse_pci_address(none)) << none;
}

TEST(GpuName, IsANumber) {
    EXPECT_EQ(parse_gpu_name("0").index, 0);
    EXPECT_EQ(parse_gpu_name("17").index, 17);
    EXPECT_EQ(parse_gpu_name("gpu1").index, 1);
    EXPECT_EQ(parse_gpu_name("GPU0").index, 0);
    for (const char *none :
         {"", "gpu", "-1", "+1", "1 ", "01", "1.0", "99999999999999999999", "gpu-1", "x"})
        EXPECT_FALSE(parse_gpu_name(none).index) << none;
}

TEST(GpuName, IsAUuid) {
    const char *const whole = "GPU-57a2d120-1234-5678-9abc-def012345678";
    for (const char *begin :
         {"GPU-57a2d120-1234-5678-9abc-def012345678", "GPU-57A2D120-1234", "gpu-57a2", "GPU-"})
        EXPECT_TRUE(begins_uuid(parse_gpu_name(begin), whole)) << begin;
    for (const char *other : {"", "57a2", "GPU-58", "0", "MIG-57a2"})
        EXPECT_FALSE(begins_uuid(parse_gpu_name(other), whole)) << other;
    EXPECT_TRUE(parse_gpu_name("MIG-57a2").mig);
    EXPECT_FALSE(parse_gpu_name("gh100").mig);
}
