// SPDX-License-Identifier: MIT OR GPL-2.0
// The module's core in this process, over words that are read some other way: the texts of the
// files that the module has in /proc/gpuX. It cannot write: what would is not linked.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "nvdebug/error.hpp"
#include "words.hpp"

namespace nvdebug::driver {

/// Facts about a GPU that cannot be read from it.
struct Attachment {
    std::string pci;    ///< the lines of `info` about PCI
    std::string driver; ///< the name of the one that is bound
    std::array<std::uint64_t, 3> bar_bytes{};
};

/// May be used by several threads: one reads at a time.
class Machine {
  public:
    /// Identifies the chip. Fails only if not even `info` can be made.
    [[nodiscard]] static Result<std::unique_ptr<Machine>> probe(std::unique_ptr<Words> words,
                                                                Attachment attachment);
    /// Of a GPU that cannot be read: `info` has the reason, @p why.
    [[nodiscard]] static std::unique_ptr<Machine> closed(const std::string &why,
                                                         Attachment attachment);
    Machine(const Machine &) = delete;
    Machine &operator=(const Machine &) = delete;
    ~Machine();

    struct Name {
        std::string name;
        bool readable; ///< else it takes a request
    };
    [[nodiscard]] std::vector<Name> files() const;

    /// An error has its errno in Error::number, and a sentence if more than that is known.
    [[nodiscard]] Result<std::string> read(std::string_view file);
    /// What the file `translate` answers.
    [[nodiscard]] Result<std::string> translate(const std::string &request);

    /// The words that the last read() or translate() took; for class Record.
    std::string take_record();
    /// The words that probe() took.
    const std::string &probe_record() const;

    struct State;

  private:
    explicit Machine(std::unique_ptr<State> state);

    std::unique_ptr<State> state_;
};

} // namespace nvdebug::driver
