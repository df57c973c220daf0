// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The file that a recording is written to, and the lines of one that is read.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <sys/types.h>

#include "cli/failure.hpp"
#include "lib/base/new_file.hpp"

struct gzFile_s;

namespace nvdebugctl {

/// Where a recording goes, piece by piece. A regular file is a new one, readable for its owner
/// only, that replaces what is there. Standard output, a descriptor (`/dev/fd/N`), a pipe or a
/// device is written to as it is.
class RecordingFile {
  public:
    enum class Appears {
        at_once,      ///< what was written stays readable whatever comes
        when_finished ///< whole or not at all
    };

    [[nodiscard]] static Outcome<RecordingFile> open(const std::string &path, Appears when);
    RecordingFile(RecordingFile &&other) noexcept;
    RecordingFile &operator=(RecordingFile &&) = delete;
    /// Without finish(), a file that was to appear then does not.
    ~RecordingFile();

    /// Writes all of @p text and clears it. If that fails, a file of its own has none of it.
    [[nodiscard]] Outcome<void> write(std::string &text);
    /// After the last write.
    [[nodiscard]] Outcome<void> finish();

    const std::string &path() const { return path_; }

  private:
    RecordingFile(int descriptor, std::string path)
        : descriptor_(descriptor), path_(std::move(path)) {}
    [[nodiscard]] static Outcome<RecordingFile> replace(const std::string &path, Appears when);

    int descriptor_;
    std::string path_;
    bool is_own_ = false;                                ///< a file that no other process writes to
    std::unique_ptr<nvdebug::base::NewFile> unfinished_; ///< until it appears
    off_t whole_ = 0;                                    ///< bytes of it so far
};

/// Lines of a file or of standard input, unpacked if it is packed by gzip.
class LineReader {
  public:
    [[nodiscard]] static Outcome<LineReader> open(const std::string &path);
    LineReader(LineReader &&other) noexcept;
    LineReader &operator=(LineReader &&) = delete;
    ~LineReader();

    /// What it is called in sentences.
    const std::string &name() const { return name_; }
    /// Of the last line, from 1; 0: none was read.
    std::uint64_t number() const { return number_; }

    enum class ReadResult { line, cut, end }; ///< `cut`: the file ends in the middle of a line
    /// @p line gets the next one without its end, or what there is of it. Fails where the file is
    /// damaged.
    [[nodiscard]] Outcome<ReadResult> next(std::string &line);

  private:
    LineReader(gzFile_s *file, std::string name) : file_(file), name_(std::move(name)) {}
    [[nodiscard]] Outcome<bool> fill();

    gzFile_s *file_;
    std::string name_;
    std::string buffer_;
    std::size_t at_ = 0; ///< in it
    std::uint64_t number_ = 0;
};

} // namespace nvdebugctl
