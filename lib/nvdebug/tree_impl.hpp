// SPDX-License-Identifier: MIT OR GPL-2.0
// The interface of a tree's source: a folder, a capture, or NVIDIA's driver.
#pragma once

#include "file.hpp"
#include "nvdebug/hold.hpp"
#include "nvdebug/switches.hpp"
#include "nvdebug/tree.hpp"

namespace nvdebug {

struct Tree::Impl {
    std::string path;
    Advice advice;
    std::map<std::string, std::string> facts;
    bool live = false;
    Source source = Source::file;

    virtual ~Impl() = default;

    virtual Result<std::vector<std::string>> list(std::string_view folder) const = 0;
    virtual Result<std::string> read(std::string_view name) const = 0;
    /// Returns whether the file can be read at all, which most controls cannot.
    virtual bool readable(std::string_view name) const = 0;

    /// Makes a request to a control, if the source is not the kernel's files.
    virtual Result<Performed> request(std::string_view name, const std::string &text) const;
    /// Begins to follow the context switches of @p gpu (`gpu0`).
    virtual Result<std::unique_ptr<SwitchReader>> follow_switches(std::string_view gpu) const;
    virtual Result<TaskHolds> hold(std::string_view gpu,
                                   const std::vector<std::vector<std::uint32_t>> &groups,
                                   const HoldOptions &options) const;
    virtual Result<LeftOvers> left_overs(std::string_view gpu) const;
    virtual Result<LeftOvers> restore(std::string_view gpu,
                                      const std::vector<std::uint32_t> &pids) const;
    /// Returns why this process has no access to @p gpu (`gpu0`), without opening it; empty: it has.
    virtual std::optional<Error> withheld(std::string_view gpu) const;
    /// Returns words in the form of driver::Record. For a file (`gpu0/runlist0`), they are the
    /// words of its last read(), and each is returned only once. For a folder (`gpu0`), they are
    /// the words that identified the GPU. Empty if the source reads no words.
    virtual std::string record(std::string_view name) const;
    /// Returns the records of a capture, by name.
    virtual std::map<std::string, std::string> words() const;
};

/// Returns the path of a file of @p tree as its user would type it: `/proc/gpu0/info`.
std::string path_in(const Tree::Impl &tree, std::string_view name);

using OpenedTree = Result<std::shared_ptr<const Tree::Impl>>;

/// Returns whether @p a comes before @p b with numbers compared by value: gpu2 comes before gpu10.
bool natural_less(const std::string &a, const std::string &b);

} // namespace nvdebug
