// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The options of nvtaskset: parsing, --help and completion are made from one table.
#pragma once

#include <span>
#include <string>

namespace nvtaskset {

/// Options without a letter.
enum LongOption {
    opt_whole = 256,
    opt_whole_count,
    opt_prepare,
    opt_no_mps,
    opt_turn,
    opt_best_effort,
    opt_quit_mps,
    opt_probe,
    opt_spread,
    opt_cdi,
    opt_cdi_folder,
    opt_check_image,
    opt_in_flight
};

struct Option {
    int id; ///< its letter, or a LongOption
    const char *name;
    const char *value; ///< what help calls its value; empty: it takes none
    const char *help;  ///< lines
    /// Of the options from here on; empty: none, but a blank line.
    const char *heading = nullptr;

    bool has_letter() const { return id < opt_whole; }
    bool takes_value() const { return *value != '\0'; }
};

[[nodiscard]] std::span<const Option> option_table();

/// Returns what --help prints.
[[nodiscard]] std::string help();

} // namespace nvtaskset
