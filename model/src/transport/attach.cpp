// SPDX-License-Identifier: MIT OR GPL-2.0
#include "transport/attach.hpp"

#include "transport/proxy.hpp"
#include "transport/vfio_user.hpp"

#include <sys/socket.h>

namespace nvmodel {
namespace {

bool is_stream_socket(int fd) {
    int type = 0;
    socklen_t length = sizeof(type);
    return ::getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length) == 0 && type == SOCK_STREAM;
}

} // namespace

std::string trouble_with(const AttachOptions &options) {
    if (options.control.empty())
        return "--control is needed";
    if ((options.qemu_fd >= 0) == !options.vfio_user.empty())
        return "one of --qemu-fd and --vfio-user is needed";
    if (options.qemu_fd >= 0 && !is_stream_socket(options.qemu_fd))
        return "--qemu-fd must be an open stream socket";
    return "";
}

std::unique_ptr<Transport> attach(PciFunction &function, const AttachOptions &options) {
    if (!options.vfio_user.empty())
        return std::make_unique<VfioUser>(function, options.vfio_user);
    return std::make_unique<Proxy>(function, UniqueFd(options.qemu_fd));
}

} // namespace nvmodel
