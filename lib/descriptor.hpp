// SPDX-License-Identifier: MIT OR GPL-2.0
// A file descriptor that is closed when its owner goes.
#ifndef NVDEBUG_LIB_DESCRIPTOR_HPP
#define NVDEBUG_LIB_DESCRIPTOR_HPP

#include <cstddef>
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

    /** The caller closes it. */
    int release();

  private:
    int number_;
};

/**
 * What is left to read of a file, in the largest steps the kernel takes.
 * @returns 0, or the errno; EFBIG if there is more than @p limit bytes.
 */
int read_rest(int descriptor, std::string &text, std::size_t limit);

/** A text in one write. @returns 0, or the errno; EIO if it was written in part. */
int write_once(int descriptor, std::string_view text);

} // namespace nvdebug

#endif
