// SPDX-License-Identifier: MIT OR GPL-2.0
// The files of a GPU, as proc/ makes them of the core's tables.
#pragma once

#include "machine.hpp"

extern "C" {
#include "control/controls.h"
#include "views/views.h"
}

#include <string>
#include <vector>

namespace core {

struct File {
    std::string name;
    u32 number = 0;
    const nvdebug_view *view = nullptr;       // that is read, or nullptr
    const nvdebug_control *control = nullptr; // that is written, or nullptr
};

/// All but `info`, which is the kernel's.
[[nodiscard]] std::vector<File> files(Machine &machine);

/// What open gives: an error, below 0; or what is read then.
struct Text {
    int error = 0;
    std::string text;
};

/// The file is opened, read to its end and closed.
[[nodiscard]] Text read(Machine &machine, const File &file);
/// One request is written; the text is its answer, if there is one.
[[nodiscard]] Text write(Machine &machine, const File &file, const std::string &request);

} // namespace core
