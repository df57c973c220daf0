// SPDX-License-Identifier: MIT OR GPL-2.0
// Reads, requests and writes through descriptors. Files are written completely or not at all.
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

    /// Gives up the descriptor, which the caller then closes.
    int release();

  private:
    int number_;
};

/// Reads the rest of a file, in the largest steps that the kernel takes.
int read_rest(int descriptor, std::string &text, std::size_t limit);

/// Writes the text with one write(). @returns 0, or the errno; EIO if only a part was written
int write_once(int descriptor, std::string_view text);

/// Returns whether reading the file returns the answer to the text written before, and nothing
/// else.
bool answers(std::string_view file);

/// The result of a request.
struct Performed {
    /// Keeps the lease that was requested, until its end.
    std::shared_ptr<const void> lease;
    std::string answer;
    /// Lease::left() of that lease.
    std::shared_ptr<const std::string> left = nullptr;
};

/// Opens a control, writes the whole text once, and reads the answer.
/// @returns the errno of the first call that failed
tl::expected<Performed, int> write_control(const std::string &path, std::string_view text,
                                           bool with_answer);

/// Compresses @p text into an open file, which stays open. @returns 0 or the errno.
int write_gzip(int descriptor, std::string_view text);

/// Compresses @p text into a temporary file beside @p path, and renames it to @p path. Only its
/// owner may read it. An existing file is replaced; an existing pipe is written to. @returns 0 or
/// the errno.
int write_whole_gzip(const std::string &path, std::string_view text);

} // namespace nvdebug
