// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Writes the file of a recording.
#pragma once

#include <memory>
#include <string>
#include <sys/types.h>

#include "cli/failure.hpp"
#include "lib/base/new_file.hpp"

namespace nvdebugctl {

/// The file of a recording, which is written piece by piece. A regular file is made new, readable
/// only for its owner, and replaces an existing one. Standard output, a descriptor (`/dev/fd/N`), a
/// pipe or a device is opened as it is.
class RecordingFile {
  public:
    enum class Appears {
        /// The file has a name at once, so that its contents survive any end of the program.
        at_once,
        when_finished ///< the file gets its name when it is whole, or never
    };

    [[nodiscard]] static Outcome<RecordingFile> open(const std::string &path, Appears when);
    RecordingFile(RecordingFile &&other) noexcept;
    RecordingFile &operator=(RecordingFile &&) = delete;
    /// Discards a file that was to appear when finished, unless finish() was called.
    ~RecordingFile();

    /// Writes all of @p text and clears it. If that fails, a file of our own is truncated, so that
    /// it has no part of the text.
    [[nodiscard]] Outcome<void> write(std::string &text);
    /// Completes the file after the last write().
    [[nodiscard]] Outcome<void> finish();

    const std::string &path() const { return path_; }

  private:
    RecordingFile(int descriptor, std::string path)
        : descriptor_(descriptor), path_(std::move(path)) {}
    [[nodiscard]] static Outcome<RecordingFile> replace(const std::string &path, Appears when);

    int descriptor_;
    std::string path_;
    bool is_own_ = false;                                ///< no other process writes to the file
    std::unique_ptr<nvdebug::base::NewFile> unfinished_; ///< the file, until it gets its name
    off_t whole_ = 0;                                    ///< bytes of whole pieces in the file
};

} // namespace nvdebugctl
