// SPDX-License-Identifier: MIT OR GPL-2.0
#include "transport/unix_listener.hpp"

#include "base/error.hpp"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace nvmodel {
namespace {

/// Removes a socket that is left over; any other file stays. Returns false if the socket is in use.
bool remove_stale(const std::filesystem::path &path, const sockaddr_un &address) {
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0 || !S_ISSOCK(status.st_mode))
        return true;
    const UniqueFd probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (::connect(probe.get(), reinterpret_cast<const sockaddr *>(&address), sizeof(address)) == 0)
        return false;
    ::unlink(path.c_str());
    return true;
}

} // namespace

UnixListener::UnixListener(const std::string &what, std::filesystem::path path)
    : path_(std::move(path)) {
    const auto fail = [&](const std::string &why) {
        throw ConfigError(what + " " + path_.string() + ": " + why);
    };
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string &name = path_.native();
    if (name.empty() || name.size() >= sizeof(address.sun_path))
        fail("the path must have 1 to " + std::to_string(sizeof(address.sun_path) - 1) + " bytes");
    name.copy(address.sun_path, name.size());
    socket_ = UniqueFd(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (socket_.get() < 0)
        fail(std::strerror(errno));
    if (!remove_stale(path_, address))
        fail("somebody listens there already");
    if (::bind(socket_.get(), reinterpret_cast<const sockaddr *>(&address), sizeof(address)) != 0 ||
        ::listen(socket_.get(), 16) != 0)
        fail(std::strerror(errno));
}

UnixListener::~UnixListener() {
    ::unlink(path_.c_str());
}

UniqueFd UnixListener::accept(int flags) const {
    return UniqueFd(::accept4(fd(), nullptr, nullptr, SOCK_CLOEXEC | flags));
}

} // namespace nvmodel
