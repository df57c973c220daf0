// SPDX-License-Identifier: MIT OR GPL-2.0
/**
 * @file
 * @brief Captures: what all readable files of GPUs held at one time, in one file.
 *
 * Gzip-compressed JSON (uncompressed is read as well), so that `zcat | jq` shows it:
 *
 *     {"format": "nvdebug-capture", "version": 1,
 *      "facts": {"captured_at": "2026-01-31T12:00:00Z", "kernel": "6.1.0-…", "module": "…",
 *                "library": "0.1.0"},
 *      "files": {"gpu0/info": "chip: …\n", …},
 *      "errors": {"gpu0/lce_for_pce0": "ENODEV", …}}
 *
 * A capture is a regular file of at most 256 MiB uncompressed; what is not is refused.
 * Control files that cannot be read are not in it. The files are not read at one instant: each is a
 * snapshot of its own.
 */
#ifndef NVDEBUG_CAPTURE_HPP
#define NVDEBUG_CAPTURE_HPP

#include <cstddef>
#include <string>
#include <vector>

#include "nvdebug/tree.hpp"

namespace nvdebug {

struct CaptureReport {
    std::size_t files;               ///< whose text is in the capture
    std::vector<std::string> failed; ///< `gpu0/runlist3: Permission denied`: not in it
};

/**
 * Writes everything readable below @p tree's folders @p gpus (`gpu0`, …; empty: all) to @p path,
 * whole or not at all (a temporary file beside it is renamed), readable for its owner only. A file
 * that is there is replaced; a folder, a device or a pipe is not. ENODEV, EIO and EOPNOTSUPP are
 * what the hardware said and go into the capture; other errors are reported.
 */
NVDEBUG_API Result<CaptureReport>
write_capture(const Tree &tree, const std::vector<std::string> &gpus, const std::string &path);

} // namespace nvdebug

#endif
