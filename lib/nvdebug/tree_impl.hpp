// SPDX-License-Identifier: MIT OR GPL-2.0
// What a tree is made of; one kind for folders, one for captures, one for NVIDIA's driver.
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
    /// Is the file for reading at all (a control mostly is not)?
    virtual bool readable(std::string_view name) const = 0;

    /// Of a control, where the kernel does not take it as a file.
    virtual Result<Performed> request(std::string_view name, const std::string &text) const;
    /// Of @p gpu (`gpu0`).
    virtual Result<std::unique_ptr<SwitchReader>> follow_switches(std::string_view gpu) const;
    virtual Result<TaskHolds> hold(std::string_view gpu,
                                   const std::vector<std::vector<std::uint32_t>> &groups,
                                   const HoldOptions &options) const;
    virtual Result<LeftOvers> left_overs(std::string_view gpu) const;
    virtual Result<LeftOvers> restore(std::string_view gpu,
                                      const std::vector<std::uint32_t> &pids) const;
    /// Words as class driver::Record has them: of a file (`gpu0/runlist0`) those that its last
    /// read() took, and only once; of a folder (`gpu0`) those that finding out about the GPU took,
    /// each time. Empty where it is not words that are read.
    virtual std::string record(std::string_view name) const;
    /// Such records that a capture has, by name.
    virtual std::map<std::string, std::string> words() const;
};

/// `/proc/gpu0/info`: a file of @p tree as its user would name it.
std::string path_in(const Tree::Impl &tree, std::string_view name);

using OpenedTree = Result<std::shared_ptr<const Tree::Impl>>;

/// The order in which people expect names with numbers: gpu2 before gpu10.
bool natural_less(const std::string &a, const std::string &b);

} // namespace nvdebug
