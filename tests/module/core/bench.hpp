// SPDX-License-Identifier: MIT OR GPL-2.0
// A GPU as tests see it: files by name, and requests to the model.
#pragma once

#include "files.hpp"
#include "model.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace core {

using Json = nlohmann::ordered_json;

/// Parses a number of a layout, for example "0x12".
[[nodiscard]] std::uint64_t number(const Json &text);
[[nodiscard]] std::string hex(std::uint64_t value);

class Bench {
  public:
    explicit Bench(const std::string &board, const std::string &workload = "three-tasks");

    /// Returns the model's answer to a request; an error fails the test.
    Json ask(const std::string &line);
    [[nodiscard]] Json layout() { return ask("layout"); }
    /// Returns runlist 0 of `layout`.
    [[nodiscard]] Json list();

    [[nodiscard]] bool has(const std::string &file) const { return find(file) != nullptr; }
    Text read(const std::string &file);
    /// Returns the text of a file that can be read; an error fails the test.
    std::string text(const std::string &file);
    /// Writes a request and closes the file.
    Text write(const std::string &file, const std::string &request);

    /// Reads words at an address and aperture of a layout.
    [[nodiscard]] std::vector<std::uint32_t> peek(const Json &at, std::uint64_t offset,
                                                  std::size_t count);
    void poke(const Json &at, std::uint64_t offset, std::span<const std::uint32_t> words);

    /// Returns true if the board is `card` or of a later generation.
    [[nodiscard]] bool since(const std::string &card) const;
    [[nodiscard]] bool wide_entries() { return entry_words() == 4; }
    [[nodiscard]] std::size_t entry_words();
    /// Returns true if a page directory may be of version 1 or of a later version.
    [[nodiscard]] bool tables_of_two_versions() {
        const auto &traits = machine.model().board().generation->page_tables;
        return traits.version_1_too && traits.version != nvmodel::mmu::Version::v1;
    }
    [[nodiscard]] bool ids_per_runlist() { return machine.model().board().ids_per_runlist(); }

    Model machine;

  private:
    [[nodiscard]] const File *find(const std::string &file) const;

    std::string board_;
    std::vector<File> files_;
};

/// Returns `card` and the cards behind it in `cards`, which are in the order of their generations.
[[nodiscard]] std::vector<std::string> cards_since(const std::string &card);

/// A test that runs on each board of a list.
class OnBoard : public testing::TestWithParam<std::string> {
  protected:
    Bench bench{GetParam()};
};

/// Returns the board's name as the suffix of a test's name.
std::string name_of_board(const testing::TestParamInfo<std::string> &board);

} // namespace core
