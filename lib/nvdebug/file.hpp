// SPDX-License-Identifier: MIT OR GPL-2.0
// Files by their descriptors: read to the end, asked for something, written whole or not at all.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "nvdebug/error.hpp"

namespace nvdebug {

class Descriptor {
  public:
    explicit Descriptor(int number) : number_(number) {}
    Descriptor(Descriptor &&other) noexcept : number_(other.release()) {}
    Descriptor &operator=(Descriptor &&) = delete;
    ~Descriptor();

    int number() const { return number_; }
    explicit operator bool() const { return number_ >= 0; }

    /// The caller closes it.
    int release();

  private:
    int number_;
};

/// What is left to read of a file, in the largest steps the kernel takes.
/// @returns 0, or the errno; EFBIG if there is more than @p limit bytes.
int read_rest(int descriptor, std::string &text, std::size_t limit);

/// A text in one write. @returns 0, or the errno; EIO if it was written in part.
int write_once(int descriptor, std::string_view text);

/// Does reading it give the answer to what was written, and nothing else?
bool answers(std::string_view file);

/// A control that took a request.
struct Performed {
    /// While it lives a lease holds, if one was asked for.
    std::shared_ptr<const void> lease;
    std::string answer;
    /// Of such a lease: Lease::left().
    std::shared_ptr<const std::string> left = nullptr;
};

/// One open, one write of the whole text, and what the control answers.
/// @returns the errno of the first that failed in place of it.
tl::expected<Performed, int> write_control(const std::string &path, std::string_view text,
                                           bool with_answer);

/// Compresses @p text into an open file, which stays open. @returns 0 or the errno.
int write_gzip(int descriptor, std::string_view text);

/// Compresses @p text into a temporary file beside @p path and renames that. Only its owner may
/// read it. What is there already is replaced if it is a file; a pipe is written into. @returns 0
/// or the errno.
int write_whole_gzip(const std::string &path, std::string_view text);

} // namespace nvdebug
