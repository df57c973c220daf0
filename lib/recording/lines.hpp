// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Reads the lines of a file of a recording.
#pragma once

#include <cstdint>
#include <string>

#include "nvdebug/error.hpp"

struct gzFile_s;

namespace recording {

/// Reads the lines of a file or of standard input. A file that is packed by gzip is unpacked.
class LineReader {
  public:
    [[nodiscard]] static nvdebug::Result<LineReader> open(const std::string &path);
    /// Opens a file that another user may have made: a link or a pipe is an error.
    [[nodiscard]] static nvdebug::Result<LineReader> open_untrusted(const std::string &path);
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
    [[nodiscard]] nvdebug::Result<ReadResult> next(std::string &line);

  private:
    LineReader(gzFile_s *file, std::string name) : file_(file), name_(std::move(name)) {}
    [[nodiscard]] static nvdebug::Result<LineReader> adopt(int descriptor, const std::string &name,
                                                           bool regular);
    [[nodiscard]] nvdebug::Result<bool> fill();

    gzFile_s *file_;
    std::string name_;
    std::string buffer_;
    std::size_t at_ = 0; ///< place in the buffer
    std::uint64_t number_ = 0;
};

} // namespace recording
