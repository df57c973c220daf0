// SPDX-License-Identifier: MIT OR GPL-2.0
// A machine with the model as its GPU, and with system memory.
#pragma once

#include "machine.hpp"

#include "control/requests.hpp"
#include "device/gpu.hpp"
#include "memory/guest_memory.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace core {

/// The system memory that a workload uses, and memory for the core's own lists.
class SystemMemory final : public nvmodel::GuestMemory {
  public:
    explicit SystemMemory(nvmodel::SystemMemoryRange range) { add(range.base, range.size); }
    void add(std::uint64_t base, std::size_t bytes) { ranges_[base].resize(bytes); }
    void remove(std::uint64_t base) { ranges_.erase(base); }

    [[nodiscard]] bool read(std::uint64_t address, std::span<std::byte> to) const override;
    [[nodiscard]] bool write(std::uint64_t address, std::span<const std::byte> from) override;

  private:
    [[nodiscard]] const std::byte *find(std::uint64_t address, std::size_t bytes) const;

    std::map<std::uint64_t, std::vector<std::byte>> ranges_; // by their first addresses
};

/// Counts the words of memory that were read.
struct WordsRead {
    std::uint64_t words = 0;
    std::uint64_t again = 0; // words that had been read before
    std::set<std::pair<std::uint8_t, std::uint64_t>> seen;
};

class Model : public Machine {
  public:
    /// Starts the workload.
    Model(const std::string &board, const std::string &workload);
    ~Model() override;

    [[nodiscard]] nvmodel::Gpu &model() { return gpu_; }
    void restart(const std::string &workload);
    /// Adds a fault of the model, in the words of its control socket.
    void fault(const std::string &words);
    /// Returns the answer, in JSON, to a line that the model's control socket takes
    /// (docs/model.md).
    std::string answer(std::string_view line) { return requests_.answer(line); }
    /// Counts reads of video and of system memory, if it has a value.
    std::optional<WordsRead> words_read;

    [[nodiscard]] std::uint32_t register_read(std::uint32_t offset) override;
    void register_write(std::uint32_t offset, std::uint32_t value) override;
    [[nodiscard]] std::optional<std::uint32_t> memory_read(std::uint8_t aperture,
                                                           std::uint64_t address) override;
    bool memory_write(std::uint8_t aperture, std::uint64_t address, std::uint32_t value) override;
    [[nodiscard]] std::optional<std::uint64_t> lend(std::size_t bytes) override;
    void take_back(std::uint64_t address, std::size_t bytes) override;

  private:
    SystemMemory memory_;
    nvmodel::Gpu gpu_;
    nvmodel::Requests requests_;
    std::uint64_t next_list_ = 0x40000000;
};

/// The boards of the model: cards, then integrated ones, as tests/support/boards.py has them.
extern const std::vector<std::string> cards;
extern const std::vector<std::string> integrated;
[[nodiscard]] std::vector<std::string> all_boards();

} // namespace core
