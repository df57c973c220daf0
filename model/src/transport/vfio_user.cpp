// SPDX-License-Identifier: MIT OR GPL-2.0
#include "transport/vfio_user.hpp"

namespace nvmodel {

VfioUser::VfioUser(PciFunction &function, std::filesystem::path path)
    : device_(function), listener_("vfio-user socket", std::move(path)) {}

bool VfioUser::serve() {
    if (!connection_) {
        UniqueFd caller = listener_.accept(0);
        if (caller.get() >= 0)
            connection_.emplace(std::move(caller));
        return true;
    }
    auto &[socket, reader] = *connection_;
    for (unsigned messages = 0; messages < max_messages; ++messages) {
        switch (reader.next(VfioUserDevice::body_size)) {
        case MessageSocket::Received::some:
            return true;
        case MessageSocket::Received::end:
            return false;
        case MessageSocket::Received::all:
            break;
        }
        if (!socket.send(device_.answer(reader.header(), reader.body(), socket.take_fds())))
            return false;
        socket.expect_more();
    }
    return true;
}

} // namespace nvmodel
