// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file When copies from the GPU to the host make progress. */
#ifndef NVDEBUG_LAB_COPY_WATCH_HPP
#define NVDEBUG_LAB_COPY_WATCH_HPP

#include "gpu.hpp"

namespace lab {

/**
 * Copies GPU memory to the host, some copies queued at all times, and watches a word of each 4 KiB
 * there change: so progress is seen while a copy is under way. Places on the host are used in turn,
 * and one that is watched is not written again, so that nothing is missed if the watcher is late;
 * what is copied differs from what was there before.
 */
class CopyWatch {
  public:
    explicit CopyWatch(std::size_t bytes);
    /** @param gap ns without progress that end an interval */
    void run(std::uint64_t duration, std::uint64_t gap);
    /** `"copied": bytes, "progress": [[begin, end, bytes], …]` */
    void print() const;

  private:
    struct Interval {
        std::uint64_t begin, end, bytes;
    };

    std::size_t bytes_;
    Address from_;
    char *to_;
    Stream stream_;
    std::vector<Interval> intervals_ = {};
};

} // namespace lab

#endif
