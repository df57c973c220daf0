// SPDX-License-Identifier: MIT OR GPL-2.0
// Runs the module's core in this process, over words that are read by other means, and makes the
// texts of the files that the module has in /proc/gpuX. It cannot write, because the functions that
// write are not linked.
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

/// Facts about a GPU that its registers do not have.
struct Attachment {
    std::string pci;    ///< the lines of `info` about PCI
    std::string driver; ///< the name of the bound driver
    std::array<std::uint64_t, 3> bar_bytes{};
};

/// A GPU and its files. Several threads may use it; one reads at a time.
class Machine {
  public:
    /// Identifies the chip. Fails only if not even `info` can be made.
    [[nodiscard]] static Result<std::unique_ptr<Machine>> probe(std::unique_ptr<Words> words,
                                                                Attachment attachment);
    /// Makes a machine for a GPU that cannot be read. Its `info` has the reason, @p why.
    [[nodiscard]] static std::unique_ptr<Machine> closed(const std::string &why,
                                                         Attachment attachment);
    Machine(const Machine &) = delete;
    Machine &operator=(const Machine &) = delete;
    ~Machine();

    struct Name {
        std::string name;
        bool readable; ///< false: it only takes a request
    };
    [[nodiscard]] std::vector<Name> files() const;

    /// Returns the text of a file. An error has its errno in Error::number, and a sentence if more
    /// than the errno is known.
    [[nodiscard]] Result<std::string> read(std::string_view file);
    /// Returns the answer of the file `translate`.
    [[nodiscard]] Result<std::string> translate(const std::string &request);

    /// Returns the words that the last read() or translate() read, for class Record.
    std::string take_record();
    /// Returns the words that probe() read.
    const std::string &probe_record() const;

    struct State;

  private:
    explicit Machine(std::unique_ptr<State> state);

    std::unique_ptr<State> state_;
};

} // namespace nvdebug::driver
