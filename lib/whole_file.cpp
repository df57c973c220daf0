// SPDX-License-Identifier: MIT OR GPL-2.0
#include "whole_file.hpp"
#include "descriptor.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

namespace nvdebug {
namespace {

int compress_to(int descriptor, std::string_view text) {
    constexpr std::size_t step = std::size_t{1} << 20;
    Descriptor own(::dup(descriptor));
    if (!own)
        return errno;
    gzFile_s *const file = ::gzdopen(own.number(), "wb");
    if (!file)
        return ENOMEM;
    own.release();
    errno = 0;
    while (!text.empty()) {
        const auto part = static_cast<unsigned>(std::min(text.size(), step));
        if (::gzwrite(file, text.data(), part) <= 0)
            break;
        text.remove_prefix(part);
    }
    // Only what closing says tells whether all of it went through.
    const bool closed = ::gzclose(file) == Z_OK;
    if (closed && text.empty())
        return 0;
    return errno ? errno : EIO;
}

/** Is something there that a rename must not replace: a device, a folder, a pipe? */
bool is_special(const std::string &path) {
    struct stat about {};
    return ::stat(path.c_str(), &about) == 0 && !S_ISREG(about.st_mode);
}

} // namespace

int write_whole_gzip(const std::string &path, std::string_view text) {
    if (is_special(path))
        return EEXIST;
    std::string temporary = path + ".XXXXXX";
    const Descriptor file(::mkostemp(temporary.data(), O_CLOEXEC));
    if (!file)
        return errno;
    int error = compress_to(file.number(), text);
    if (!error && ::fsync(file.number()))
        error = errno;
    if (!error && ::rename(temporary.c_str(), path.c_str()))
        error = errno;
    if (error)
        ::unlink(temporary.c_str());
    return error;
}

} // namespace nvdebug
