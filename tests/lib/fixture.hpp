// SPDX-License-Identifier: MIT OR GPL-2.0
// Opens golden files as trees.
#ifndef NVDEBUG_TESTS_LIB_FIXTURE_HPP
#define NVDEBUG_TESTS_LIB_FIXTURE_HPP

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "nvdebug/nvdebug.hpp"

namespace fixture {

/// A temporary folder, which is removed with this object.
class Folder {
  public:
    Folder();
    Folder(const Folder &) = delete;
    Folder &operator=(const Folder &) = delete;
    ~Folder();

    const std::filesystem::path &path() const { return path_; }
    void write(const std::string &name, std::string_view text) const;
    nvdebug::Tree tree() const;

  private:
    std::filesystem::path path_;
};

/// Texts by file name. Files that could not be read are left out.
using Files = std::map<std::string, std::string>;

/// Returns the boards with golden files.
std::vector<std::string> boards();

/// Returns the files of one golden file: `a100`, `fig6`. Empty if there is none.
Files golden(const std::string &board, const std::string &set);

/// The topology of a board, and its state while workload @p set was running, as gpu0 of a tree.
class Board {
  public:
    explicit Board(const std::string &board, const std::string &set = "idle");

    const Folder &folder() const { return folder_; }
    nvdebug::Gpu gpu() const { return {folder_.tree(), 0}; }

  private:
    Folder folder_;
};

/// Returns the value. Fails the test with the sentence if there is an error.
template <typename T>
T value(nvdebug::Result<T> result) {
    if (!result)
        throw std::runtime_error(result.error().sentence);
    return std::move(*result);
}

} // namespace fixture

#endif
