// SPDX-License-Identifier: MIT OR GPL-2.0
// What helpers have changed of processes, written down before it is changed, so that it can be
// undone if a helper and its owner are killed at once.
//
// Each helper has a file in /run/nvdebug while something of its is to be undone:
//
//     nvdebug changes 1
//     keeper PID STARTED NAMESPACE holding
//     gpu 0000:01:00.0
//     channel PID STARTED CLIENT CHANNEL 1
//     timeslice PID STARTED CLIENT TSG MICROSECONDS
//     end
//
// A line about a channel says whether it was enabled, and further ones are `interleave` (a level)
// and `mode` (a preemption mode) of TSGs. PID and STARTED are a process and when it was started, in
// clock ticks since the machine was; NAMESPACE is that of the numbers of processes. `undoing` in
// place of `holding`: the driver has refused to undo it, and the keeper tries again. The file
// appears whole, by rename(), and is only root's: others cannot write there, and have no such file.
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

/// A property of a process's channel or TSG.
struct Property {
    enum class Kind { channel, timeslice, interleave, mode } kind;
    std::uint32_t pid;
    std::uint64_t started;
    std::uint32_t client, object;
    auto operator<=>(const Property &) const = default;
};

/// The values that properties had before they were changed; of a channel 1: it was enabled.
using Originals = std::map<Property, std::uint64_t>;

/// A helper's file, made ready before the helper is forked: its functions that the helper calls
/// allocate nothing.
class JournalEntry {
  public:
    /// @param gpu its PCI address
    /// @param undo the calls that put back what the processes have now
    JournalEntry(const std::string &gpu, const std::vector<Process> &processes,
                 std::initializer_list<const std::vector<Call> *> undo);

    /// Called by the helper, which it names as the keeper. Nothing is written where nothing is to
    /// be undone. Async-signal-safe, as the following ones. @returns 0 or the errno
    int write();
    /// Writes again, with another value for the nth timeslice of the calls.
    void set_timeslice(std::size_t n, std::uint64_t us);
    /// Writes again that its helper only tries to undo it.
    void set_undoing();
    /// Is the nth TSG in the file of another helper?
    bool is_elsewhere(std::size_t n) const;
    void remove() const;

  private:
    int write_text() const;
    bool has_line(int folder, const char *name, const std::string &begin) const;

    std::string name_, temporary_, path_, temporary_path_, text_;
    std::size_t keeper_at_ = 0, state_at_ = 0; ///< in the text
    std::vector<std::size_t> timeslices_at_;   ///< the values, in the text
    std::vector<std::string> timeslices_; ///< how their lines begin, with the line break before
    bool is_empty_ = true;
};

/// The error of a change that could not be written down.
Error not_written(int number);

/// A file that was found.
struct FoundEntry {
    std::string path;
    base::Birth keeper;
    std::string gpu;
    bool is_undoing = false;
    Originals originals;
    /// Does its keeper live?
    bool is_kept() const { return base::lives(keeper); }
};

struct Journal {
    std::vector<FoundEntry> entries;   ///< in the order of their names
    std::vector<std::string> troubles; ///< sentences about files that make no sense
};

/// Reads all files whose helpers count processes as this process does. Fails with
/// ErrorCode::denied if this user may not; without the folder there are no files.
Result<Journal> read_journal();

} // namespace nvdebug::driver
