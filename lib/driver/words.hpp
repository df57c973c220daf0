// SPDX-License-Identifier: MIT OR GPL-2.0
// The source of a GPU's words: its driver, or a record of earlier reads.
#pragma once

#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "nvdebug/error.hpp"
#include "rm.hpp"

namespace nvdebug::driver {

/// Registers and video memory of a GPU, for reading.
class Words {
  public:
    virtual ~Words() = default;
    /// Reads registers. All ones mean that the GPU has no such register.
    virtual Result<void> registers(std::span<const std::uint32_t> offsets,
                                   std::span<std::uint32_t> values) = 0;
    /// Reads memory. @p address is a multiple of 4. ErrorCode::io with EFAULT: there is no such
    /// memory.
    virtual Result<void> memory(std::uint64_t address, std::span<std::uint32_t> words) = 0;
};

/// The words of a GPU of NVIDIA's driver. Memory is mapped in windows of 256 KiB, and some windows
/// are kept, because the driver places the instance blocks of channels 64 KiB apart.
class DriverWords final : public Words {
  public:
    explicit DriverWords(std::unique_ptr<Gpu> gpu) : gpu_(std::move(gpu)) {}
    Result<void> registers(std::span<const std::uint32_t> offsets,
                           std::span<std::uint32_t> values) override;
    Result<void> memory(std::uint64_t address, std::span<std::uint32_t> words) override;
    const Cost &cost() const { return gpu_->cost(); }

    static constexpr std::size_t window_bytes = 0x40000, windows_max = 32;

  private:
    Result<const Window *> window_at(std::uint64_t address);

    std::unique_ptr<Gpu> gpu_;
    std::list<std::unique_ptr<Window>> windows_; // the last used window comes first
};

/// Records the words that are read, in order: lines `OFFSET VALUE` of registers and `ADDRESS: WORD
/// WORD …` of memory, all in hexadecimal.
class Record {
  public:
    void add_register(std::uint32_t offset, std::uint32_t value);
    void add_memory(std::uint64_t address, std::span<const std::uint32_t> words);
    std::string take() { return std::exchange(text_, {}); }

  private:
    std::string text_;
};

/// Replays a record. A register that the record has more than once returns its values in turn, and
/// then always the last one.
class RecordedWords final : public Words {
  public:
    /// Adds the lines of @p record.
    Result<void> add(std::string_view record);
    /// Forgets all values except the last one of each register and word.
    void keep_last();
    Result<void> registers(std::span<const std::uint32_t> offsets,
                           std::span<std::uint32_t> values) override;
    Result<void> memory(std::uint64_t address, std::span<std::uint32_t> words) override;

  private:
    std::map<std::uint32_t, std::deque<std::uint32_t>> registers_;
    std::map<std::uint64_t, std::deque<std::uint32_t>> memory_; // by address of the word
};

} // namespace nvdebug::driver
