// SPDX-License-Identifier: MIT OR GPL-2.0
// Sends as a peer of a model's socket.
#ifndef NVDEBUG_TESTS_FUZZ_MODEL_SEND_HPP
#define NVDEBUG_TESTS_FUZZ_MODEL_SEND_HPP

#include "fuzz.hpp"
#include "transport/unique_fd.hpp"

#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <span>
#include <vector>

namespace fuzz {

/** Sends bytes, with `fds` descriptors (12 at most) at their front. The files have `file_size`
 * bytes. */
inline void send(int socket, std::span<const std::byte> bytes, unsigned fds,
                 std::uint64_t file_size) {
    iovec vector{const_cast<std::byte *>(bytes.data()), bytes.size()};
    alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(sizeof(int) * 12)> control{};
    msghdr message{};
    message.msg_iov = &vector;
    message.msg_iovlen = 1;
    std::vector<nvmodel::UniqueFd> files;
    std::vector<int> numbers;
    for (unsigned i = 0; i < fds; ++i) {
        files.emplace_back(::memfd_create("guest", MFD_CLOEXEC));
        numbers.push_back(files.back().get());
        FUZZ_REQUIRE(::ftruncate(numbers.back(), static_cast<off_t>(file_size)) == 0);
    }
    if (fds) {
        message.msg_control = control.data();
        message.msg_controllen = CMSG_SPACE(sizeof(int) * fds);
        cmsghdr *const part = CMSG_FIRSTHDR(&message);
        part->cmsg_level = SOL_SOCKET;
        part->cmsg_type = SCM_RIGHTS;
        part->cmsg_len = CMSG_LEN(sizeof(int) * fds);
        std::memcpy(CMSG_DATA(part), numbers.data(), sizeof(int) * fds);
    }
    if (!bytes.empty())
        ::sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
}

} // namespace fuzz

#endif
