// SPDX-License-Identifier: MIT OR GPL-2.0
#include "new_file.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace nvdebug::base {
namespace {

std::string folder_of(const std::string &path) {
    const std::size_t end = path.rfind('/');
    return end == path.npos ? "." : end == 0 ? "/" : path.substr(0, end);
}

/// Returns a path to the file without a name. linkat() takes this path from any user, while a bare
/// descriptor needs a capability.
std::string link_to(int descriptor) {
    return "/proc/self/fd/" + std::to_string(descriptor);
}

} // namespace

tl::expected<NewFile, int> NewFile::make(const std::string &path) {
    const int nameless =
        ::open(folder_of(path).c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR);
    // The file gets its name through /proc, so without /proc a temporary name is used.
    if (nameless >= 0 && ::access(link_to(nameless).c_str(), F_OK) == 0)
        return NewFile(nameless, path, {});
    if (nameless >= 0)
        ::close(nameless);
    std::string temporary = path + ".XXXXXX";
    const int named = ::mkostemp(temporary.data(), O_CLOEXEC);
    if (named < 0)
        return tl::unexpected(errno);
    return NewFile(named, path, std::move(temporary));
}

NewFile::NewFile(NewFile &&other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, {})) {}

NewFile::~NewFile() {
    if (descriptor_ >= 0)
        ::close(descriptor_);
    if (!temporary_.empty())
        ::unlink(temporary_.c_str());
}

/// Links the file under a free name, for a rename from there. Unlike a link, a rename replaces an
/// existing file, and programs that watch the folder see it: CDI libraries of container daemons
/// take up renamed, removed and written files, and ignore created ones.
int NewFile::link_beside() {
    constexpr int tries = 100;
    for (int n = 0; n < tries; n++) {
        unsigned random = 0;
        if (::getrandom(&random, sizeof(random), 0) < 0)
            return errno;
        std::string free_name = path_ + "." + std::to_string(random);
        if (::linkat(AT_FDCWD, link_to(descriptor_).c_str(), AT_FDCWD, free_name.c_str(),
                     AT_SYMLINK_FOLLOW) == 0) {
            temporary_ = std::move(free_name);
            return 0;
        }
        if (errno != EEXIST)
            return errno;
    }
    return EEXIST;
}

int NewFile::appear() {
    if (temporary_.empty())
        if (const int error = link_beside())
            return error;
    if (::rename(temporary_.c_str(), path_.c_str()))
        return errno;
    temporary_.clear();
    return 0;
}

} // namespace nvdebug::base
