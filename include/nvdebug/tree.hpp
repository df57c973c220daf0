// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file
/// @brief The source of a GPU's files: the module's /proc, NVIDIA's driver, or a capture.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "nvdebug/error.hpp"

namespace nvdebug {

/// Commands of the program that uses the library, for advice in errors. Errors name no command that
/// is empty.
struct Advice {
    std::string diagnose; ///< finds what is wrong with this machine: `TOOL doctor`
    std::string capture;  ///< makes a capture: `TOOL capture FILE`
};

/// The kind of a tree, which decides the files and requests that it has.
enum class Source {
    module, ///< the running kernel's /proc: all files, and all requests
    driver, ///< NVIDIA's driver: everything that root can read of video memory and registers, and
            ///< requests about objects of processes
    file,   ///< a capture, or a folder that looks like /proc
};

/// Files by their names relative to the tree's root: `gpu0/runlist0`. A tree is cheap to copy, and
/// copies share their content. Several threads may use different Tree objects, and copies of one,
/// at once.
class NVDEBUG_API Tree {
  public:
    /// Opens a folder: `/proc`, or a copy of it. Fails if there is no such folder.
    static Result<Tree> folder(const std::string &path = "/proc", const Advice &advice = Advice());

    /// Opens NVIDIA's driver, which works without the module. The tree has the files that can be
    /// made in this process from what the driver lets it read, and `owners`. It takes the request
    /// `translate`, and requests about channels and TSGs of processes (docs/nvdebugctl.md, Tasks).
    /// Fails if the driver is not loaded. Users other than root get `info`, which has the reason,
    /// and `owners` of their own processes. It was tried with 580.159.04 only; its requests were
    /// compared in NVIDIA's published sources of 525.53 to 595.45.04. docs/security.md lists what
    /// it opens and maps, and for how long.
    static Result<Tree> driver(const Advice &advice = Advice());

    /// Opens /proc if the module is loaded, else driver() if that works, else /proc without a GPU.
    static Result<Tree> running(const Advice &advice = Advice());

    /// Reads a capture (capture.hpp) into memory.
    static Result<Tree> capture(const std::string &path, const Advice &advice = Advice());

    /// Reads a capture from an open file or pipe, which stays open. Errors call it standard input.
    static Result<Tree> capture(int descriptor, const Advice &advice = Advice());

    /// Opens @p path: a folder, or a capture in a file or a pipe. A device is refused.
    static Result<Tree> open(const std::string &path, const Advice &advice = Advice());

    /// Returns whether the tree is the running kernel's /proc.
    bool live() const;

    /// Returns the kind of the tree.
    Source source() const;

    /// Returns the path with which the tree was opened; `driver` for driver().
    const std::string &path() const;

    /// Returns when and where a capture was made, with the keys of capture.hpp. driver() has its
    /// version as `source`. Empty for other trees.
    const std::map<std::string, std::string> &facts() const;

    /// Returns the names in @p folder, with numbers in their order. `""` is the root, which also
    /// has folders.
    Result<std::vector<std::string>> list(std::string_view folder) const;

    /// Returns the whole text of a file, read with one open(). Returns an error that a capture
    /// recorded.
    Result<std::string> read(std::string_view name) const;

    struct Impl;
    explicit Tree(std::shared_ptr<const Impl> impl);
    const Impl &impl() const { return *impl_; }

  private:
    std::shared_ptr<const Impl> impl_;
};

} // namespace nvdebug
