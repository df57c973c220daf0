// SPDX-License-Identifier: MIT OR GPL-2.0
// Helpers of the model's tests.
#pragma once

#include "base/error.hpp"
#include "board/board.hpp"
#include "device/gpu.hpp"
#include "memory/guest_memory.hpp"
#include "workload/workload.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace nvmodel::test {

/// PCI functions, with memory of their own.
inline constexpr std::array cards{"a100",      "b200",    "gtx1060-3gb",  "gtx1080ti",
                                  "gtx980",    "h200",    "quadro-k5000", "rtx-a6000",
                                  "rtx2080ti", "rtx5090", "rtx6000-ada",  "titan-v"};
/// Platform devices, without memory of their own.
inline constexpr std::array integrated{"jetson-orin", "jetson-tx2", "jetson-xavier"};
inline constexpr std::array boards{"a100",          "b200",         "gtx1060-3gb", "gtx1080ti",
                                   "gtx980",        "h200",         "jetson-orin", "jetson-tx2",
                                   "jetson-xavier", "quadro-k5000", "rtx-a6000",   "rtx2080ti",
                                   "rtx5090",       "rtx6000-ada",  "titan-v"};

/// Makes a board's name a part of a test's name.
std::string test_name(const testing::TestParamInfo<const char *> &board);

Board board(const std::string &name);
Workload workload(const std::string &name);
/// Makes a workload from the text of its "entries".
Workload workload_of(const std::string &entries, const std::string &more = "");

/// Returns the message of the ConfigError that a call throws; fails the test if it throws none.
std::string config_error(const std::function<void()> &call);

/// System memory of a guest: one range.
class FakeMemory final : public GuestMemory {
  public:
    FakeMemory(std::uint64_t base, std::size_t size) : base_(base), bytes_(size) {}
    [[nodiscard]] bool read(std::uint64_t address, std::span<std::byte> to) const override;
    [[nodiscard]] bool write(std::uint64_t address, std::span<const std::byte> from) override;

  private:
    [[nodiscard]] bool contains(std::uint64_t address, std::size_t length) const;

    std::uint64_t base_;
    std::vector<std::byte> bytes_;
};

inline constexpr SystemMemoryRange sysmem_range{0x10000000, 0x1000000};

/// A GPU and its guest memory.
class Bench {
  public:
    Bench(const std::string &board_name, const Workload &work);
    Bench(const std::string &board_name, const std::string &workload_name)
        : Bench(board_name, workload(workload_name)) {}

    /// A Bench with a running workload.
    static std::unique_ptr<Bench> started(const std::string &board_name, const Workload &work);
    static std::unique_ptr<Bench> started(const std::string &board_name,
                                          const std::string &workload_name) {
        return started(board_name, workload(workload_name));
    }

    std::uint32_t read(std::uint64_t offset) {
        return static_cast<std::uint32_t>(gpu.bar_read(Bar::registers, offset, 4));
    }
    void write(std::uint64_t offset, std::uint32_t value) {
        gpu.bar_write(Bar::registers, offset, value, 4);
    }

    /// Accesses a word of GPU memory through the PRAMIN window, or of guest memory where no window
    /// reaches.
    std::uint32_t peek(PhysicalAddress at);
    void poke(PhysicalAddress at, std::uint32_t value);

    /// The apertures of a driver's structures, as registers hold them: if a workload names no
    /// aperture, and if it names coherent system memory.
    [[nodiscard]] Aperture default_aperture() const;
    [[nodiscard]] Aperture system_aperture() const;

    /// Returns the place of a register of a runlist's block, by GA100's offset; Ampere and newer.
    [[nodiscard]] std::uint32_t runlist_register(std::uint32_t at, unsigned runlist = 0) const;
    /// Submits a list through the registers that the board has.
    void submit(unsigned runlist, PhysicalAddress base, unsigned entries, unsigned first = 0);

    /// Returns the place of a channel's enable, status and fault bits.
    [[nodiscard]] std::uint32_t channel_register(unsigned channel, unsigned runlist = 0) const;
    void enable(unsigned channel, unsigned runlist = 0);
    void disable(unsigned channel, unsigned runlist = 0);
    /// Rings the channel's doorbell, where there are doorbells.
    void ring(unsigned channel, unsigned runlist = 0);
    void preempt_tsg(unsigned tsg, unsigned runlist = 0);
    [[nodiscard]] bool preempt_pending(unsigned runlist = 0);
    void set_gate(unsigned runlist, bool closed);

    void advance_us(double us);
    /// Work done so far, in microseconds, by task.
    std::map<std::string, double> progress() const;
    /// Work that is done while time passes, in microseconds, by task.
    std::map<std::string, double> gained(double us);
    [[nodiscard]] ChannelProgress channel(unsigned id, unsigned runlist = 0) const;
    [[nodiscard]] std::string state(unsigned id, unsigned runlist = 0) const {
        return std::string(channel(id, runlist).state);
    }

    /// Fails the test if strict mode recorded anything.
    void expect_no_violations();

    FakeMemory guest;
    Gpu gpu;

  private:
    /// Moves the window to an address and returns its place in BAR0; nothing if the window cannot
    /// reach it.
    std::optional<std::uint32_t> through_window(PhysicalAddress at);
};

} // namespace nvmodel::test
