// SPDX-License-Identifier: MIT OR GPL-2.0
#include "nvdebug/control.hpp"

#include <unistd.h>
#include <utility>

namespace nvdebug {

Lease::Lease(int descriptor, std::string answer)
    : descriptor_(descriptor), answer_(std::move(answer)) {}

Lease::Lease(Lease &&other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), answer_(std::move(other.answer_)) {}

Lease &Lease::operator=(Lease &&other) noexcept {
    if (this != &other) {
        end();
        descriptor_ = std::exchange(other.descriptor_, -1);
        answer_ = std::move(other.answer_);
    }
    return *this;
}

Lease::~Lease() {
    end();
}

void Lease::end() {
    if (descriptor_ >= 0)
        ::close(std::exchange(descriptor_, -1));
}

} // namespace nvdebug
