// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Devices of containers: files of the Container Device Interface (CDI) 0.5.0, and the
/// program as a hook that they name.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "nvdebug/expected.hpp"

namespace nvdebug::base {

/// Where container runtimes look for devices, until the next boot.
inline constexpr const char *device_folder = "/run/cdi";

/// Results, or a sentence about what failed and what to do.
template <typename T>
using OrSentence = tl::expected<T, std::string>;

struct ContainerDevice {
    std::string kind;             ///< `nvdebug.io/tpcs`
    std::string name;             ///< is_device_name()
    nlohmann::ordered_json edits; ///< the value of `containerEdits`

    /// As `podman run --device` takes it: `nvdebug.io/tpcs=half`.
    [[nodiscard]] std::string whole_name() const { return kind + "=" + name; }
};

/// Returns whether CDI permits that name of a device; longer ones might be no file's.
[[nodiscard]] bool is_device_name(std::string_view name);

/// Writes FOLDER/nvdebug.io-tpcs-NAME.json, which replaces an earlier one as a whole, since
/// runtimes read all files of the folder whenever they start a container.
[[nodiscard]] OrSentence<void> write_device(const ContainerDevice &device,
                                            const std::string &folder);

/// Returns the path of this program. Fails if others than this user and root can change it:
/// runtimes run it as a hook, as root.
[[nodiscard]] OrSentence<std::string> own_path_for_hooks();

/// Fails if others than this user and root can change the file, which containers would run.
[[nodiscard]] OrSentence<void> expect_private(const std::string &path);

/// Reads the descriptor to its end. What is no JSON is read as null. @p what names it in sentences.
[[nodiscard]] OrSentence<nlohmann::json> read_json(int descriptor, std::size_t bytes_max,
                                                   const std::string &what);

/// Reads a container's state on standard input, as runtimes give it to hooks.
[[nodiscard]] OrSentence<nlohmann::json> read_container_state();

/// A string of the document; empty: it has none there.
[[nodiscard]] std::string text_at(const nlohmann::json &document, const char *pointer);

} // namespace nvdebug::base
