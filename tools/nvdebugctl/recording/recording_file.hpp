// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Writes the file of a recording, and reads the lines of such a file.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <sys/types.h>

#include "cli/failure.hpp"
#include "lib/base/new_file.hpp"

struct gzFile_s;

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

/// Reads the lines of a file or of standard input. A file that is packed by gzip is unpacked.
class LineReader {
  public:
    [[nodiscard]] static Outcome<LineReader> open(const std::string &path);
    LineReader(LineReader &&other) noexcept;
    LineReader &operator=(LineReader &&) = delete;
    ~LineReader();

    /// Returns the file's name for messages.
    const std::string &name() const { return name_; }
    /// Returns the number of the last line, from 1; 0: none was read.
    std::uint64_t number() const { return number_; }

    enum class ReadResult { line, cut, end }; ///< `cut`: the file ends in the middle of a line
    /// Reads the next line without its end into @p line. For a line that is cut, @p line gets its
    /// beginning. Fails if the file is damaged.
    [[nodiscard]] Outcome<ReadResult> next(std::string &line);

  private:
    LineReader(gzFile_s *file, std::string name) : file_(file), name_(std::move(name)) {}
    [[nodiscard]] Outcome<bool> fill();

    gzFile_s *file_;
    std::string name_;
    std::string buffer_;
    std::size_t at_ = 0; ///< place in the buffer
    std::uint64_t number_ = 0;
};

} // namespace nvdebugctl
