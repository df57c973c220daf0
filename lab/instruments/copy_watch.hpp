// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file Finds out when copies from the GPU to the host make progress. */
#ifndef NVDEBUG_LAB_COPY_WATCH_HPP
#define NVDEBUG_LAB_COPY_WATCH_HPP

#include "gpu.hpp"

namespace lab {

/**
 * Copies GPU memory to the host, with some copies queued at all times. It watches a word of each
 * 4 KiB of the destination change, so that progress is seen while a copy is under way. The copies
 * use several destinations in turn, and a destination is not written again while it is watched, so
 * a late watcher misses nothing. Successive copies to a destination have different contents.
 */
class CopyWatch {
  public:
    explicit CopyWatch(std::size_t bytes);
    /** Runs for @p duration, in ns. An interval of progress ends after @p gap ns without progress.
     */
    void run(std::uint64_t duration, std::uint64_t gap);
    /** Prints `"copied": bytes, "progress": [[begin, end, bytes], …]`. */
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
