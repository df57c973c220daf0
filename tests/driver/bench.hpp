// SPDX-License-Identifier: MIT OR GPL-2.0
// A GPU of the model behind a stand-in for NVIDIA's driver.
#pragma once

#include "lib/nvdebug/driver_tree.hpp"
#include "stand_in.hpp"

#include "board/board.hpp"
#include "device/gpu.hpp"
#include "memory/guest_memory.hpp"
#include "workload/workload.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>

namespace driver_test {

inline const std::filesystem::path golden = GOLDEN_FILES, data = NVDEBUG_MODEL_DATA,
                                   hardware = HARDWARE;
inline constexpr nvmodel::SystemMemoryRange system_memory{0x10000000, 0x400000};

/// The system memory of a workload, which the driver does not show.
class SystemMemory final : public nvmodel::GuestMemory {
  public:
    [[nodiscard]] bool read(std::uint64_t address, std::span<std::byte> to) const override {
        if (!holds(address, to.size()))
            return false;
        std::memcpy(to.data(), bytes_.data() + (address - system_memory.base), to.size());
        return true;
    }
    [[nodiscard]] bool write(std::uint64_t address, std::span<const std::byte> from) override {
        if (!holds(address, from.size()))
            return false;
        std::memcpy(bytes_.data() + (address - system_memory.base), from.data(), from.size());
        return true;
    }

  private:
    static bool holds(std::uint64_t address, std::size_t bytes) {
        return address >= system_memory.base && bytes <= system_memory.size &&
               address - system_memory.base <= system_memory.size - bytes;
    }

    std::vector<std::byte> bytes_ = std::vector<std::byte>(system_memory.size);
};

/// A modelled GPU and the stand-in through which it is read.
class Bench {
  public:
    explicit Bench(const std::string &board, const std::string &workload = "idle")
        : gpu(nvmodel::load_board(data / "boards" / (board + ".json")), work(workload),
              system_memory),
          kernel(std::make_shared<StandIn>()) {
        gpu.attach(&memory_);
        gpu.start();
        kernel->memory_bytes = 256ULL << 30;
        kernel->registers = [this](std::uint32_t offset) -> std::optional<std::uint32_t> {
            return static_cast<std::uint32_t>(gpu.bar_read(nvmodel::Bar::registers, offset, 4));
        };
        kernel->memory = [this](std::uint64_t address) { return gpu.direct_read(address); };
    }

    static nvmodel::Workload work(const std::string &name) {
        return nvmodel::load_workload(data / "workloads" / (name + ".json"));
    }

    [[nodiscard]] nvdebug::Tree tree() const {
        auto opened = nvdebug::driver::open_tree(kernel, {});
        EXPECT_TRUE(opened) << opened.error().sentence;
        return nvdebug::Tree(*opened);
    }

  private:
    SystemMemory memory_;

  public:
    nvmodel::Gpu gpu;
    std::shared_ptr<StandIn> kernel;
};

class Driver : public testing::Test {
  protected:
    Driver() : bench("h200", "three-tasks") {}
    ~Driver() override {
        EXPECT_EQ(bench.kernel->wrongs, std::vector<std::string>{});
        EXPECT_EQ(bench.kernel->open_files(), 0U);
        EXPECT_EQ(bench.kernel->mapped(), 0U);
        EXPECT_EQ(bench.kernel->driver_mappings(), 0U);
    }

    Bench bench;
    StandIn &kernel = *bench.kernel;
};

} // namespace driver_test
