// SPDX-License-Identifier: MIT OR GPL-2.0
// The real GPU behind a bridge. It comes from a capture, or is one that NVIDIA's driver has.
#pragma once

#include "capture_words.hpp"
#include "lib/driver/kernel.hpp"
#include "lib/driver/words.hpp"

#include "board/board.hpp"

#include <memory>
#include <string>

namespace nvdebug::bridge {

struct Source {
    std::string name; ///< a name for people: `gpu0 of FILE`
    nvmodel::PciIdentity pci;
    std::unique_ptr<driver::Words> words;
    CaptureWords *capture = nullptr; ///< the same object as `words`, if the source is a capture
};

/// Opens the first GPU of a capture that has words. Throws as open_live() does.
Source open_capture(const std::string &path);

/// Opens a GPU of the driver. @p number counts the driver's GPUs by PCI address, as nvdebugctl
/// numbers them. Throws nvmodel::ConfigError, or std::runtime_error if it may work later.
Source open_live(const std::shared_ptr<driver::Kernel> &kernel, const std::string &number);

} // namespace nvdebug::bridge
