// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file Messages about this tool's controls to the recorders that run on this machine. */
#ifndef NVDEBUGCTL_MARKS_HPP
#define NVDEBUGCTL_MARKS_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace nvdebugctl {

/** Sends @p text to every running recorder; none is no error. Recorders with a full queue get
 *  100 ms in all to empty it. @param gpu `gpu0` @return how many did not receive it */
std::size_t tell_recorders(const std::string &gpu, const std::string &text);
/** A sentence about recorders that did not receive a message. */
std::string not_told(std::size_t recorders);

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
        std::uint32_t pid; ///< of the sender, from the kernel
    };
    /** Messages since the last call, of root and the same user only; what others send is
     *  thrown away. At most so many messages a call: the rest waits for the next. */
    std::vector<Heard> take();
    static constexpr std::size_t most_at_once = 64;
    /** Messages of others that were thrown away: while they come, marks may not get through. */
    std::uint64_t refused() const { return refused_; }
    /** Is readable when there is something; below 0: there can be none. */
    int descriptor() const { return descriptor_; }

  private:
    int descriptor_;
    std::uint64_t refused_ = 0;
};

} // namespace nvdebugctl

#endif
