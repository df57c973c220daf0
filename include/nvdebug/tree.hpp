// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file
/// @brief Where the files come from: the module's /proc, NVIDIA's driver, or a capture.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "nvdebug/error.hpp"

namespace nvdebug {

/// Commands of the program that uses the library, for advice in the sentences of errors.
/// Empty: they do not name one.
struct Advice {
    std::string diagnose; ///< finds what is wrong with this machine: `TOOL doctor`
    std::string capture;  ///< makes a capture: `TOOL capture FILE`
};

enum class Source {
    module, ///< the running kernel's /proc: all there is, and requests
    driver, ///< NVIDIA's driver: all that can be read of video memory and registers, as root, and
            ///< requests about what processes have
    file,   ///< a capture, or a folder that looks like /proc
};

/// Files by name relative to the tree's root: `gpu0/runlist0`. Cheap to copy; copies share what
/// they refer to. Different Tree objects, and copies, may be used by different threads at once.
class NVDEBUG_API Tree {
  public:
    /// A folder: `/proc`, or a copy of it. Fails if there is no such folder.
    static Result<Tree> folder(const std::string &path = "/proc", const Advice &advice = Advice());

    /// What NVIDIA's driver lets a program read, without the module: the same files, their texts
    /// made in this process, and `owners`. Seen with 580.159.04 alone; its requests were compared
    /// in NVIDIA's published sources of 525.53 to 595.45.04. Of requests it takes `translate`, and
    /// those about channels and TSGs of processes (docs/nvdebugctl.md, Tasks). Fails if that driver
    /// is not there. Users other than root get `info`, which has the reason, and `owners` of own
    /// processes. docs/security.md lists what is opened and mapped, and for how long.
    static Result<Tree> driver(const Advice &advice = Advice());

    /// /proc if the module is loaded, else driver() if that works, else /proc without a GPU.
    static Result<Tree> running(const Advice &advice = Advice());

    /// A capture (capture.hpp), read into memory.
    static Result<Tree> capture(const std::string &path, const Advice &advice = Advice());

    /// A capture from an open file or pipe, which stays open. Errors call it standard input.
    static Result<Tree> capture(int descriptor, const Advice &advice = Advice());

    /// A folder, or a capture in a file or a pipe, whichever @p path is; a device is refused.
    static Result<Tree> open(const std::string &path, const Advice &advice = Advice());

    /// Is it the running kernel's /proc?
    bool live() const;

    Source source() const;

    /// What it was opened with; `driver` for driver().
    const std::string &path() const;

    /// When the capture was made and of what: keys as in capture.hpp; of driver() its version, as
    /// `source`; else empty.
    const std::map<std::string, std::string> &facts() const;

    /// The names of files in @p folder (`""`: the root, folders included), sorted as numbers.
    Result<std::vector<std::string>> list(std::string_view folder) const;

    /// The whole text of a file, read with one open. An error that a capture recorded comes back.
    Result<std::string> read(std::string_view name) const;

    struct Impl;
    explicit Tree(std::shared_ptr<const Impl> impl);
    const Impl &impl() const { return *impl_; }

  private:
    std::shared_ptr<const Impl> impl_;
};

} // namespace nvdebug
