// SPDX-License-Identifier: MIT OR GPL-2.0
// The files of a GPU, made from the core's tables as proc/ makes them.
#pragma once

#include "machine.hpp"

extern "C" {
#include "control/controls.h"
#include "control/lease.h"
#include "views/views.h"
}

#include <filesystem>
#include <string>
#include <vector>

namespace core {

struct File {
    std::string name;
    u32 number = 0;
    const nvdebug_view *view = nullptr;       // for reading, or nullptr
    const nvdebug_control *control = nullptr; // for writing, or nullptr
};

/// Returns all files but `info`, which takes facts that are not in the GPU.
[[nodiscard]] std::vector<File> files(Machine &machine);

/// The result of an open: a negative error, or the text that can be read.
struct Text {
    int error = 0;
    std::string text;
};

/// Opens the file, reads it to its end and closes it. With `hide`, the reader may not see
/// addresses.
[[nodiscard]] Text read(Machine &machine, const File &file, bool hide = false);

/// Writes the text of each readable file into the folder, without the files of units that are
/// missing (-ENODEV). Throws std::runtime_error.
void write(Machine &machine, const std::vector<File> &files, const std::filesystem::path &folder);

/// A file that is open for writing, with the leases that go with it.
class Open {
  public:
    Open(Machine &machine, const File &file)
        : machine_(machine), file_(file), error_(nvdebug_leases_init(&leases_, machine.gpu())) {}
    Open(const Open &) = delete;
    Open &operator=(const Open &) = delete;
    ~Open() {
        if (!error_)
            nvdebug_leases_end(&leases_, machine_.gpu());
    }

    /// Writes a request. The text of the result is the request's answer, if it has one.
    Text write(const std::string &request);

  private:
    Machine &machine_;
    const File &file_;
    nvdebug_leases leases_{};
    const int error_; ///< of opening the file
};

} // namespace core
