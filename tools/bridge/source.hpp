// SPDX-License-Identifier: MIT OR GPL-2.0
// The real GPU behind a bridge: one of a capture, or one that NVIDIA's driver has.
#pragma once

#include "capture_words.hpp"
#include "lib/driver/kernel.hpp"
#include "lib/driver/words.hpp"

#include "board/board.hpp"

#include <memory>
#include <string>

namespace nvdebug::bridge {

struct Source {
    std::string name; ///< for people: `gpu0 of FILE`
    nvmodel::PciIdentity pci;
    std::unique_ptr<driver::Words> words;
    CaptureWords *capture = nullptr; ///< the same, if it is that
};

/// The first GPU of a capture that has words. Throws nvmodel::ConfigError.
Source open_capture(const std::string &path);

/// @p number: of the driver's GPUs by PCI address, as nvdebugctl numbers them. Throws
/// nvmodel::ConfigError.
Source open_live(std::shared_ptr<driver::Kernel> kernel, const std::string &number);

} // namespace nvdebug::bridge
