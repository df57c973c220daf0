// SPDX-License-Identifier: MIT OR GPL-2.0
#include "descriptor.hpp"

#include <algorithm>
#include <cerrno>
#include <unistd.h>
#include <utility>

namespace nvdebug {

Descriptor::~Descriptor() {
    if (number_ >= 0)
        ::close(number_);
}

int Descriptor::release() {
    return std::exchange(number_, -1);
}

int read_rest(int descriptor, std::string &text, std::size_t limit) {
    constexpr std::size_t first_step = 64 * 1024;
    for (;;) {
        const std::size_t have = text.size();
        if (have > limit)
            return EFBIG;
        text.resize(have + std::max(first_step, have));
        const ssize_t got = ::read(descriptor, text.data() + have, text.size() - have);
        const int error = got < 0 ? errno : 0;
        text.resize(have + (got > 0 ? static_cast<std::size_t>(got) : 0));
        if (got <= 0)
            return error;
    }
}

int write_once(int descriptor, std::string_view text) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0)
        return errno;
    return static_cast<std::size_t>(written) == text.size() ? 0 : EIO;
}

} // namespace nvdebug
