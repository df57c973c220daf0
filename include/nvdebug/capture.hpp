// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file
/// @brief Captures: one file with the texts of all readable files of GPUs.
///
/// A capture is JSON, compressed by gzip, so that `zcat | jq` shows it. Uncompressed JSON is read,
/// too:
///
///     {"format": "nvdebug-capture", "version": 1,
///      "facts": {"captured_at": "2026-01-31T12:00:00Z", "kernel": "6.1.0-…", "module": "…",
///                "library": "0.1.0"},
///      "files": {"gpu0/info": "chip: …\n", …},
///      "errors": {"gpu0/lce_for_pce0": "ENODEV", …},
///      "words": {"gpu0/runlist0": "c00080 db8a0000\n13db8a0000: 80030001 …\n", …}}
///
/// A capture has at most 256 MiB uncompressed. Its files are not read at one instant: each is a
/// snapshot of its own. Control files that cannot be read are left out.
///
/// A capture from NVIDIA's driver also has `words`: the words that were read to make a file, and
/// under `gpu0` the words that identified the GPU. They are `OFFSET VALUE` of a register and
/// `ADDRESS: WORD …` of video memory, hexadecimal and in order. Its `facts` have `source` in place
/// of `module`, and its `files` have `gpu0/owners`, with names of processes.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "nvdebug/tree.hpp"

namespace nvdebug {

/// The result of writing a capture.
struct CaptureReport {
    std::size_t files;         ///< number of files in the capture
    std::vector<Error> failed; ///< the errors of files that the capture should have and lacks
};

/// Writes all readable files below the folders @p gpus of @p tree (`gpu0`, …; empty: all) to @p
/// path, readable for its owner only. The file appears completely or not at all, because a
/// temporary file beside it is renamed. An existing file is replaced, and an existing pipe is
/// written to; a folder or a device is refused. The report has an error for each file that cannot
/// be read. The errors ENODEV, EIO and EOPNOTSUPP, which do not depend on the reader, also go into
/// the capture, and reading the capture returns them again. ENODEV of a PCE or GRCE only means that
/// it serves no LCE, and is not reported.
NVDEBUG_API Result<CaptureReport>
write_capture(const Tree &tree, const std::vector<std::string> &gpus, const std::string &path);

/// Writes the capture to an open file or pipe, which stays open.
NVDEBUG_API Result<CaptureReport>
write_capture(const Tree &tree, const std::vector<std::string> &gpus, int descriptor);

} // namespace nvdebug
