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

/** The errno of what is there, if a rename must not replace it: a folder, a device, a pipe. */
int in_the_way(const std::string &path) {
    struct stat about {};
    if (::stat(path.c_str(), &about) || S_ISREG(about.st_mode))
        return 0;
    return S_ISDIR(about.st_mode) ? EISDIR : EEXIST;
}

} // namespace

int write_whole_gzip(const std::string &path, std::string_view text) {
    if (const int error = in_the_way(path))
        return error;
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
