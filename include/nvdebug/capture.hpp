// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file
/// @brief Captures: what all readable files of GPUs held at one time, in one file.
///
/// Gzip-compressed JSON (uncompressed is read as well), so that `zcat | jq` shows it:
///
/// {"format": "nvdebug-capture", "version": 1,
/// "facts": {"captured_at": "2026-01-31T12:00:00Z", "kernel": "6.1.0-…", "module": "…",
/// "library": "0.1.0"},
/// "files": {"gpu0/info": "chip: …\n", …},
/// "errors": {"gpu0/lce_for_pce0": "ENODEV", …},
/// "words": {"gpu0/runlist0": "c00080 db8a0000\n13db8a0000: 80030001 …\n", …}}
///
/// A capture holds at most 256 MiB uncompressed.
/// `words`, from NVIDIA's driver alone: what was read for a file, and under `gpu0` to find out
/// about the GPU: `OFFSET VALUE` of a register, `ADDRESS: WORD …` of video memory, hexadecimal, in
/// order. `facts` has `source` in place of `module` then, and `files` has `gpu0/owners`: names of
/// processes. Control files that cannot be read are not in it. The files are not read at one
/// instant: each is a snapshot of its own.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "nvdebug/tree.hpp"

namespace nvdebug {

struct CaptureReport {
    std::size_t files;         ///< number of files in the capture
    std::vector<Error> failed; ///< of each file that should be in it, and is not
};

/// Writes everything readable below @p tree's folders @p gpus (`gpu0`, …; empty: all) to @p path,
/// whole or not at all (a temporary file beside it is renamed), readable for its owner only. A file
/// that is there is replaced, a pipe is written into; a folder or a device is refused. Each file
/// that cannot be read is reported. ENODEV, EIO and EOPNOTSUPP, which do not depend on the reader,
/// also go into the capture, and come back when it is read. ENODEV of a PCE or GRCE only means that
/// it serves no LCE, and is not reported.
NVDEBUG_API Result<CaptureReport>
write_capture(const Tree &tree, const std::vector<std::string> &gpus, const std::string &path);

/// The same to an open file or pipe, which stays open.
NVDEBUG_API Result<CaptureReport>
write_capture(const Tree &tree, const std::vector<std::string> &gpus, int descriptor);

} // namespace nvdebug
