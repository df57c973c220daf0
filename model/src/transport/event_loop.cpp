// SPDX-License-Identifier: MIT OR GPL-2.0
#include "transport/event_loop.hpp"

#include "base/error.hpp"

#include <cerrno>
#include <cstring>
#include <string>

namespace nvmodel {

void serve_until_qemu_goes(Transport &transport, ControlServer &control) {
    std::vector<pollfd> waiting;
    for (;;) {
        waiting.assign(1, {transport.fd(), POLLIN, 0});
        control.add_to(waiting);
        if (::poll(waiting.data(), waiting.size(), -1) < 0) {
            if (errno == EINTR)
                continue;
            throw ProtocolError("poll: " + std::string(std::strerror(errno)));
        }
        if (waiting[0].revents != 0 && !transport.serve())
            return;
        control.serve(&waiting[1]);
    }
}

} // namespace nvmodel
