// SPDX-License-Identifier: MIT OR GPL-2.0
// Reads the driver's own record of context switches of the graphics engine GR0.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernel.hpp"
#include "nvdebug/error.hpp"
#include "nvdebug/switches.hpp"
#include "rm.hpp"

namespace nvdebug::driver {

/// Records switches from now on. Root gets the switches of all users, others those of their own
/// processes.
class Switches final : public SwitchReader {
  public:
    static Result<std::unique_ptr<Switches>> start(const std::shared_ptr<Kernel> &kernel,
                                                   const Card &card);
    Switches(const Switches &) = delete;
    Switches &operator=(const Switches &) = delete;
    ~Switches() override;

    Result<std::uint64_t> read(std::vector<ContextSwitch> &switches) override;
    Result<std::uint64_t> now_ns() override;
    nvdebug::Process process(std::uint32_t pid) override;
    std::optional<std::uint64_t> started(std::uint32_t pid) override;
    bool sees_processes() override;

  private:
    Switches(std::shared_ptr<Kernel> kernel, std::shared_ptr<Client> client)
        : kernel_(std::move(kernel)), client_(std::move(client)) {}

    Result<void> make_objects(const Card &card);
    Result<const void *> make_memory(std::uint32_t handle, std::size_t bytes);
    Result<void> bind();
    /// Makes a request. Fails also if the RM refuses it.
    Result<void> control(std::uint32_t object, std::uint32_t command, void *params,
                         std::size_t bytes);

    std::shared_ptr<Kernel> kernel_;
    std::shared_ptr<Client> client_;
    std::optional<std::uint64_t> gpu_; // the device number of its file, by Kernel::device()
    int node_ = -1; // the GPU's open file: the RM takes requests about a GPU only from a process
                    // that has it open
    const rm::EventHeader *header_ = nullptr;
    const rm::SwitchRecord *records_ = nullptr;
    std::uint32_t get_ = 0;
};

/// Records the switches of @p ms milliseconds and returns them as the text of an answer. @p clock
/// returns the GPU's clock, if it may be read.
Result<std::string> record_switches(const std::shared_ptr<Kernel> &kernel, const Card &card,
                                    std::uint64_t ms, const std::function<std::string()> &clock);

} // namespace nvdebug::driver
