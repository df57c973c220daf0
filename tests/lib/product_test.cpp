// SPDX-License-Identifier: MIT OR GPL-2.0
// Reads UUID and product name from folders in the form of NVIDIA's driver and sysfs.
#include "nvdebug/product.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sys/stat.h>

namespace {

namespace fs = std::filesystem;

class Products : public testing::Test {
  protected:
    Products() { fs::create_directories(driver / "gpus" / address); }
    ~Products() override { fs::remove_all(root); }

    void write(const fs::path &path, const std::string &text) const {
        fs::create_directories(path.parent_path());
        std::ofstream(path) << text;
    }
    [[nodiscard]] nvdebug::Product product() const {
        return nvdebug::product_of(address, driver.string(), pci.string());
    }

    const std::string address = "0000:3b:00.0";
    const fs::path root = fs::path(testing::TempDir()) / ("products." + std::to_string(getpid())),
                   driver = root / "driver", pci = root / "pci",
                   information = driver / "gpus" / address / "information",
                   status = pci / address / "power/runtime_status";
};

TEST_F(Products, HaveTheDriversNames) {
    write(information, "Model: \t\t NVIDIA H100 80GB HBM3\nIRQ:   \t\t 60\n"
                       "GPU UUID: \t GPU-57a2ed01-1111-2222-3333-444455556666\n"
                       "Video BIOS: \t 96.00.74.00.01\nDevice Minor: \t 3\n");
    const nvdebug::Product found = product();
    EXPECT_EQ(found.name, "NVIDIA H100 80GB HBM3");
    EXPECT_EQ(found.uuid, "GPU-57a2ed01-1111-2222-3333-444455556666");
    EXPECT_EQ(found.minor, 3U);
}

TEST_F(Products, HaveNoUuidBeforeTheGpuIsSetUp) {
    write(information, "Model: \t\t Unknown\nGPU UUID: \t GPU-\?\?\?\?\?\?\?\?-\?\?\?\?\n");
    EXPECT_EQ(product().uuid, std::nullopt);
}

/// Reading the file would wake a GPU that sleeps. The answer shows that the file was not read.
TEST_F(Products, DoNotWakeASleepingGpu) {
    write(information, "Model: \t\t NVIDIA H100\n");
    write(status, "suspended\n");
    EXPECT_EQ(product(), nvdebug::Product{});
    write(status, "active\n");
    EXPECT_EQ(product().name, "NVIDIA H100");
}

TEST_F(Products, AreNotWaitedFor) {
    ASSERT_EQ(::mkfifo(information.c_str(), 0600), 0);
    EXPECT_EQ(product(), nvdebug::Product{});
}

/// This machine may have another GPU at the address of a capture's GPU.
TEST_F(Products, AreUnknownForCaptures) {
    write(information, "Model: \t\t NVIDIA H100\n");
    nvdebug::Info info{};
    info.pci_address = address;
    const auto of = [&](const std::string &folder) {
        return nvdebug::product_of(nvdebug::Tree::folder(folder).value(), info, driver.string(),
                                   pci.string());
    };
    EXPECT_EQ(of("/proc").name, "NVIDIA H100");
    EXPECT_EQ(of(root.string()), nvdebug::Product{});
    info.pci_address.reset();
    EXPECT_EQ(of("/proc"), nvdebug::Product{}) << "an integrated GPU";
}

TEST_F(Products, AreNoneWhereThereIsNoDriver) {
    EXPECT_EQ(product(), nvdebug::Product{});
    EXPECT_EQ(nvdebug::product_of("", driver.string(), pci.string()), nvdebug::Product{});
    EXPECT_EQ(nvdebug::product_of("../../x", driver.string(), pci.string()), nvdebug::Product{});
}

} // namespace
