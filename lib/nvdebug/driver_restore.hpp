// SPDX-License-Identifier: MIT OR GPL-2.0
// Restores changes that helpers have written down and did not undo, because they were killed.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "driver_tasks.hpp"
#include "lib/driver/journal.hpp"
#include "nvdebug/hold.hpp"

namespace nvdebug::driver {

/// Implements Gpu::left_overs().
[[nodiscard]] Result<LeftOvers> left_overs(Kernel &kernel, const Card &card);

/// Implements Gpu::restore(). Restores all left-overs if @p pids is empty.
[[nodiscard]] Result<LeftOvers> restore(const std::shared_ptr<Kernel> &kernel, Ownership &ownership,
                                        const Card &card, const std::vector<std::uint32_t> &pids);

/// Restores left-overs of the processes and targets of the request, and returns find_tasks().
[[nodiscard]] Result<DriverTasks> find_restored(const std::shared_ptr<Kernel> &kernel,
                                                Ownership &ownership, const Card &card,
                                                const TaskRequest &request,
                                                const ReadLists &read_lists);

/// The content of the files of all helpers for a GPU.
struct WrittenDown {
    Originals originals; ///< the values that properties had before helpers changed them
    /// Keepers that only try to undo their changes, by the changed process.
    std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint32_t> undoing;
};

/// Reads the files; empty where they cannot be read.
[[nodiscard]] WrittenDown written_down(const Card &card);

/// Fails with ErrorCode::busy if the driver still refuses to undo a change to one of the processes,
/// because each further change would be one more to undo.
[[nodiscard]] Result<void> check_undone(const WrittenDown &written, const DriverTasks &tasks,
                                        const OwnedChannels &channels);

} // namespace nvdebug::driver
