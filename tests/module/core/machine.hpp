// SPDX-License-Identifier: MIT OR GPL-2.0
// Implements core/machine.h, on which the core runs here, by a C++ object.
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

/// A GPU's registers and memory. Mistakes of the core end the program: an access outside of begin()
/// and end(), or an access to video memory with the lock held, because access/ takes that lock
/// itself.
class Machine {
  public:
    Machine();
    Machine(const Machine &) = delete;
    Machine &operator=(const Machine &) = delete;
    virtual ~Machine();

    [[nodiscard]] nvdebug_gpu *gpu() { return &attached_.gpu; }
    static Machine &of(const nvdebug_gpu *gpu);

    /// Finds out the chip and its features. Returns 0 or an error.
    int probe();
    /// Resets the GPU to its state before a probe.
    void forget();
    /// Makes the driver's lists current again and forgets the core's own, as when the module is
    /// unloaded and loaded.
    void retire();

    [[nodiscard]] virtual std::uint32_t register_read(std::uint32_t offset) = 0;
    virtual void register_write(std::uint32_t offset, std::uint32_t value) = 0;
    /// Returns a word of memory, or nothing if there is no memory at that address.
    [[nodiscard]] virtual std::optional<std::uint32_t> memory_read(std::uint8_t aperture,
                                                                   std::uint64_t address) = 0;
    /// Returns false if there is no memory at that address.
    virtual bool memory_write(std::uint8_t aperture, std::uint64_t address,
                              std::uint32_t value) = 0;
    /// Returns the address of exactly `bytes` bytes of system memory.
    [[nodiscard]] virtual std::optional<std::uint64_t> lend(std::size_t bytes) = 0;
    virtual void take_back(std::uint64_t address, std::size_t bytes) = 0;

    /// The number, counted from 1, of the memory read or write that fails with `refuse_with`. 0:
    /// none fails.
    std::uint64_t refuse = 0;
    int refuse_with = 0;
    /// The GPU is being removed, or sleeps.
    bool leaving = false;
    bool asleep = false;
    /// Called whenever the GPU is taken into use.
    std::function<void()> on_begin;

    // --- Members for the functions of core/machine.h ---
    int begin(bool undo);
    void end();
    void must_be_open() const;
    int next_request();
    std::uint64_t requests = 0;
    std::vector<std::string> errors; // lines of the log about errors
    std::vector<std::string> done;   // lines of the log about requests that were carried out
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
