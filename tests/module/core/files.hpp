// SPDX-License-Identifier: MIT OR GPL-2.0
// The files of a GPU, as proc/ makes them of the core's tables.
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
    const nvdebug_view *view = nullptr;       // that is read, or nullptr
    const nvdebug_control *control = nullptr; // that is written, or nullptr
};

/// All but `info`, which takes facts that are not in the GPU.
[[nodiscard]] std::vector<File> files(Machine &machine);

/// What open gives: an error, below 0; or what is read then.
struct Text {
    int error = 0;
    std::string text;
};

/// The file is opened, read to its end and closed, by a reader who may see addresses or not.
[[nodiscard]] Text read(Machine &machine, const File &file, bool hide = false);

/// What read() gives of each of them that can be read, as files of a folder; without those of units
/// that are not there (-ENODEV). Throws std::runtime_error.
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

    /// One request; the text is its answer, if there is one.
    Text write(const std::string &request);

  private:
    Machine &machine_;
    const File &file_;
    nvdebug_leases leases_{};
    const int error_; ///< of opening it
};

} // namespace core
