// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The file of --decisions: lines of JSON from the threads of all GPUs.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "lib/base/new_file.hpp"
#include "tools/nvqos/failure.hpp"

namespace nvqos {

/// Takes lines in memory, and writes them in a thread of its own, so that a step never waits for
/// the disk. The record ends with a warning, and goals are kept on, if the file would grow beyond
/// Bounds::file, if the disk is full, or if it is so slow that Bounds::memory is exceeded. The file
/// has whole lines only, without a gap between them.
class Decisions {
  public:
    /// The sizes, in bytes, at which the record ends.
    struct Bounds {
        std::size_t file = std::size_t{64} << 20;
        std::size_t memory = std::size_t{8} << 20; ///< lines that are not written yet
    };

    /// Makes the file new, readable for its owner only, with a first line on its form. It replaces a
    /// regular file of that name. It has its name at once, so that its lines survive any end of the
    /// program.
    /// @param warn is called once at most, in any thread
    static Outcome<std::shared_ptr<Decisions>> open(const std::string &path, Warn warn,
                                                    const Bounds &bounds);
    static Outcome<std::shared_ptr<Decisions>> open(const std::string &path, Warn warn) {
        return open(path, std::move(warn), Bounds{});
    }
    Decisions(const Decisions &) = delete;
    Decisions &operator=(const Decisions &) = delete;
    ~Decisions() { finish(); }

    /// Adds a line, which has no newline. Nothing is added after finish(), or after the record has
    /// ended early.
    void add(const std::string &line);
    /// Waits until all lines are written.
    void finish();

  private:
    Decisions(nvdebug::base::NewFile file, std::string path, Warn warn, const Bounds &bounds);
    void write_lines();
    int write(const std::string &lines);
    void warn_of_end(const std::string &why) const;

    const nvdebug::base::NewFile file_;
    const std::string path_;
    const Warn warn_;
    const Bounds bounds_;
    std::size_t written_ = 0; ///< bytes of whole lines in the file; the thread alone uses it
    std::mutex lock_;         ///< of the following
    std::condition_variable changed_;
    std::string lines_;      ///< not written yet
    std::size_t added_ = 0;  ///< bytes of all lines so far
    bool has_ended_ = false; ///< the record has ended early, with a warning
    bool finishes_ = false;  ///< no line is added any more, and the thread is to end
    std::thread thread_;
};

} // namespace nvqos
