// SPDX-License-Identifier: MIT OR GPL-2.0
// What the core runs on here: core/machine.h, by way of a C++ object.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <vector>

extern "C" {
#include "core/gpu.h"
#include "core/machine.h"
}
#include <shim.h>

namespace core {

/// A GPU's registers and memory. What the core does wrong ends the program: an access outside of
/// begin() and end(), or to video memory with the lock held, which access/ takes for that.
class Machine {
  public:
    Machine();
    Machine(const Machine &) = delete;
    Machine &operator=(const Machine &) = delete;
    virtual ~Machine();

    [[nodiscard]] nvdebug_gpu *gpu() { return &attached_.gpu; }
    static Machine &of(const nvdebug_gpu *gpu);

    /// Finds out which chip it is and what it has; 0, or the error of that.
    int probe();
    /// As if it had not been probed.
    void forget();
    /// The driver's lists are in force again, and nothing is remembered, as when the module is
    /// unloaded and loaded.
    void retire();

    [[nodiscard]] virtual std::uint32_t register_read(std::uint32_t offset) = 0;
    virtual void register_write(std::uint32_t offset, std::uint32_t value) = 0;
    /// A word of memory; nothing if there is none at that address.
    [[nodiscard]] virtual std::optional<std::uint32_t> memory_read(std::uint8_t aperture,
                                                                   std::uint64_t address) = 0;
    /// False if there is none.
    virtual bool memory_write(std::uint8_t aperture, std::uint64_t address,
                              std::uint32_t value) = 0;
    /// System memory for as many bytes, and no longer.
    [[nodiscard]] virtual std::optional<std::uint64_t> lend(std::size_t bytes) = 0;
    virtual void take_back(std::uint64_t address, std::size_t bytes) = 0;

    /// Of the calls that read or write memory, the one that fails, from 1, and how; 0: none.
    std::uint64_t refuse = 0;
    int refuse_with = 0;
    /// The GPU is being removed, or sleeps.
    bool leaving = false;
    bool asleep = false;
    /// Asked whenever the GPU is taken into use.
    std::function<void()> on_begin;

    // --- for the functions of core/machine.h ---
    int begin(bool undo);
    void end();
    void must_be_open() const;
    int next_request();
    std::uint64_t requests = 0;
    std::vector<std::string> errors; // lines in the log
    std::vector<std::string> done;   // and those about what was done
    std::vector<std::string> warnings;
    std::vector<std::uint32_t> expected; // registers that were announced

  private:
    struct Attached {
        nvdebug_gpu gpu;
        Machine *machine;
    };
    Attached attached_{};
    bool open_ = false;
};

} // namespace core
