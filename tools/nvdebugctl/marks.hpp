// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file Controls that this tool makes, told to recorders that run on this machine. */
#ifndef NVDEBUGCTL_MARKS_HPP
#define NVDEBUGCTL_MARKS_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace nvdebugctl {

/** Tells every recorder that there is; none is no trouble. @param gpu `gpu0` */
void tell_recorders(const std::string &gpu, const std::string &text);

/** A recorder's ear. */
class Ear {
  public:
    Ear();
    Ear(const Ear &) = delete;
    Ear &operator=(const Ear &) = delete;
    ~Ear();

    struct Heard {
        std::string gpu, text;
        std::uint64_t monotonic_ns;
        std::uint32_t pid; ///< as the kernel says
    };
    /** What was told since the last call. From root, and from own user, alone. */
    std::vector<Heard> take();
    /** Is readable when there is something; below 0: there can be none. */
    int descriptor() const { return descriptor_; }

  private:
    int descriptor_;
};

} // namespace nvdebugctl

#endif
