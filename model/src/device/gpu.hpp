// SPDX-License-Identifier: MIT OR GPL-2.0
// The device core: one GPU, without any transport. Adapters (QEMU's proxy, unit tests) call it
// for every access; the control socket for everything else. Single-threaded.
#pragma once

#include "base/time.hpp"
#include "board/board.hpp"
#include "device/access.hpp"
#include "device/bar.hpp"
#include "device/chip.hpp"
#include "device/corruption.hpp"
#include "device/faults.hpp"
#include "device/pci_function.hpp"
#include "device/statistics.hpp"
#include "device/violations.hpp"
#include "driver/driver.hpp"
#include "memory/memory.hpp"
#include "workload/plan.hpp"
#include "workload/workload.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace nvmodel {

/// The progress of a channel's work.
struct ChannelProgress {
    unsigned runlist = 0;
    std::optional<unsigned> tsg; // none: a bare channel
    unsigned channel = 0;
    std::string task;
    std::string engine;
    bool enabled = false;
    double progress_us = 0; // engine time received
    std::string_view state; // PCCSR's vocabulary, on every generation
};

class Gpu final : public PciFunction {
  public:
    /// Throws ConfigError if the workload does not fit the board, or needs system memory and
    /// there is none for it.
    Gpu(Board board, const Workload &workload,
        std::optional<SystemMemoryRange> system_memory = std::nullopt);

    void attach(GuestMemory *guest) override { memory_.attach(guest); }

    // --- accesses of the guest ---

    /// An access takes bar_access_ns of virtual time.
    std::uint64_t bar_read(Bar bar, std::uint64_t offset, unsigned size) override;
    void bar_write(Bar bar, std::uint64_t offset, std::uint64_t value, unsigned size) override;

    /// Accesses a word of video memory without a BAR, but as if a BAR showed it: the access takes
    /// as long, and faults act on it.
    std::uint32_t direct_read(std::uint64_t address);
    void direct_write(std::uint64_t address, std::uint32_t value);

    void reset() override;

    // --- requests of the control socket ---

    /// Starts the workload. Throws ConfigError if it runs already or cannot be built; then nothing
    /// is set up on the board.
    void start();
    /// Resets the chip but not PCI configuration, takes another workload if there is one, and
    /// starts. If the workload does not fit, nothing is changed and ConfigError thrown.
    void restart(const Workload *other);

    /// Takes power from the BARs, or gives it back. The rest of the state stays.
    void set_asleep(bool asleep) { asleep_ = asleep; }
    /// Returns whether set_asleep() or PCI's state D3hot has taken the power.
    [[nodiscard]] bool asleep() const { return asleep_ || config_.powered_down(); }

    /// Sets a mode. Returns false if the board does not have it.
    bool set_mode(std::string_view name, bool on);
    /// The modes that the board has.
    [[nodiscard]] std::vector<std::pair<std::string_view, bool>> modes() const;

    void advance(Ns by) { chip_->host().advance(by); }
    [[nodiscard]] Ns now() const { return chip_->host().now(); }
    [[nodiscard]] std::vector<ChannelProgress> progress() const;
    /// Submits a runlist again. Throws ConfigError if there is nothing to submit.
    void resubmit(unsigned runlist);
    /// Submits the next version of a runlist, see Driver; returns the version.
    unsigned rotate(unsigned runlist);

    /// Flips bits in the driver's structures. Throws ConfigError if the workload is not started.
    std::vector<Corruption::Flip> corrupt(std::uint64_t seed, unsigned flips);
    void undo_corruption() { corruption_.undo(memory_); }

    [[nodiscard]] bool started() const { return driver_ != nullptr; }
    [[nodiscard]] const Board &board() const { return board_; }
    [[nodiscard]] const Plan &plan() const { return plan_; }
    [[nodiscard]] const Chip &chip() const { return *chip_; }
    [[nodiscard]] const Memory &memory() const { return memory_; }
    [[nodiscard]] Memory &memory() { return memory_; }
    /// Throws ConfigError if the workload is not started.
    [[nodiscard]] const Driver &driver() const;
    [[nodiscard]] Driver &driver();
    /// Host itself, for the work that programs do beside the registers.
    [[nodiscard]] Host &host() { return chip_->host(); }
    [[nodiscard]] Statistics &statistics() { return statistics_; }
    [[nodiscard]] Violations &violations() { return violations_; }
    [[nodiscard]] Faults &faults() { return faults_; }

  private:
    [[nodiscard]] Plan fit(const Workload &workload) const;
    void reset_chip();

    [[nodiscard]] std::string_view block_of(const Access &access) const;
    [[nodiscard]] std::optional<PhysicalAddress> behind(const Access &access) const;
    bool on_the_bus();
    bool begin(const Access &access);
    void count(const Access &access);
    [[nodiscard]] bool is_pramin(const Access &access) const;
    std::uint64_t read_device(const Access &access);
    void write_device(const Access &access, std::uint64_t value);
    std::uint64_t read_memory(const Access &access);
    void write_memory(const Access &access, std::uint64_t value);
    std::uint64_t read_register(const Access &access);
    void write_register(const Access &access, std::uint64_t value);
    std::uint32_t read_register_word(const Access &access, std::uint32_t offset);
    void driver_interferes();

    Board board_;
    std::optional<SystemMemoryRange> system_memory_;
    Plan plan_;
    Memory memory_;
    Statistics statistics_;
    Violations violations_;
    Faults faults_;
    Modes modes_;
    std::unique_ptr<Chip> chip_;
    std::unique_ptr<Driver> driver_;
    Corruption corruption_;
    bool asleep_ = false;
};

} // namespace nvmodel
