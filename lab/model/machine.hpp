// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file The machine under the module's core: the modelled GPU of an experiment. */
#ifndef NVDEBUG_LAB_MODEL_MACHINE_HPP
#define NVDEBUG_LAB_MODEL_MACHINE_HPP

#include "../../tests/module/core/machine.hpp"

#include "device/gpu.hpp"

namespace lab {

/** A machine whose accesses take no virtual time. All that the driver made is in video memory. */
class Machine final : public core::Machine {
  public:
    /** @param gpu started; outlives this */
    explicit Machine(nvmodel::Gpu &gpu);

    std::uint32_t register_read(std::uint32_t offset) override;
    void register_write(std::uint32_t offset, std::uint32_t value) override;
    std::optional<std::uint32_t> memory_read(std::uint8_t aperture, std::uint64_t address) override;
    bool memory_write(std::uint8_t aperture, std::uint64_t address, std::uint32_t value) override;
    std::optional<std::uint64_t> lend(std::size_t bytes) override;
    void take_back(std::uint64_t address, std::size_t bytes) override;

  private:
    nvmodel::Gpu &gpu_;
};

} // namespace lab

#endif
