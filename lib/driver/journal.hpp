// SPDX-License-Identifier: MIT OR GPL-2.0
// The journal has what helpers have changed in processes. A helper writes a change down before it
// makes the change, so that it can be undone even if the helper and its owner are killed at once.
//
// Each helper has a file in /run/nvdebug while it has something to undo:
//
//     nvdebug changes 1
//     keeper PID STARTED NAMESPACE holding
//     gpu 0000:01:00.0
//     channel PID STARTED CLIENT CHANNEL 1
//     timeslice PID STARTED CLIENT TSG MICROSECONDS
//     end
//
// The line of a channel says whether the channel was enabled. The lines `interleave` (a level) and
// `mode` (a preemption mode) are about TSGs. PID and STARTED are a process and its start, in clock
// ticks since the machine started. NAMESPACE is the PID namespace. `undoing` in place of `holding`
// means that the driver has refused the undo, and that the keeper tries again. The file appears
// whole, by rename(). Only root can write to the folder, so helpers of other users have no such
// file.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <vector>

#include "helper.hpp"
#include "lib/base/process.hpp"
#include "nvdebug/error.hpp"

namespace nvdebug::driver {

/// A property of a channel or TSG of a process.
struct Property {
    enum class Kind { channel, timeslice, interleave, mode } kind;
    std::uint32_t pid;
    std::uint64_t started;
    std::uint32_t client, object;
    auto operator<=>(const Property &) const = default;
};

/// The values that properties had before they were changed. For a channel, 1 means enabled.
using Originals = std::map<Property, std::uint64_t>;

/// The file of a helper. It is prepared before the helper is forked, so that the functions that the
/// helper calls need not allocate memory.
class JournalEntry {
  public:
    /// @param gpu its PCI address
    /// @param undo the calls that restore the present values
    JournalEntry(const std::string &gpu, const std::vector<Process> &processes,
                 std::initializer_list<const std::vector<Call> *> undo);

    /// Writes the file, with the calling helper as the keeper; writes none if nothing is to be
    /// undone. This function and the following ones are async-signal-safe. @returns 0 or the errno
    int write();
    /// Writes the file again, with another value for the timeslice of call n.
    void set_timeslice(std::size_t n, std::uint64_t us);
    /// Writes the file again, with the state `undoing`.
    void set_undoing();
    /// Returns whether the file of another helper has the TSG of call n, too.
    bool is_elsewhere(std::size_t n) const;
    void remove() const;

  private:
    int write_text() const;
    bool has_line(int folder, const char *name, const std::string &begin) const;

    std::string name_, temporary_, path_, temporary_path_, text_;
    std::size_t keeper_at_ = 0, state_at_ = 0; ///< in the text
    std::vector<std::size_t> timeslices_at_;   ///< the values, in the text
    std::vector<std::string> timeslices_; ///< how their lines begin, from the preceding line break
                                          ///< on
    bool is_empty_ = true;
};

/// Returns the error of a change that could not be written down.
Error not_written(int number);

/// A file that read_journal() found.
struct FoundEntry {
    std::string path;
    base::Birth keeper;
    std::string gpu;
    bool is_undoing = false;
    Originals originals;
    /// Returns whether the keeper lives.
    bool is_kept() const { return base::lives(keeper); }
};

struct Journal {
    std::vector<FoundEntry> entries;   ///< in the order of their names
    std::vector<std::string> troubles; ///< sentences about files that make no sense
};

/// Reads the files of all helpers in this PID namespace. Fails with ErrorCode::denied if this user
/// may not read them. Without the folder there are no files.
Result<Journal> read_journal();

} // namespace nvdebug::driver
