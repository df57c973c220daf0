// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Writes devices of containers as files of the Container Device Interface (CDI) 0.5.0, and
/// helps a program that such a file names as a hook.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>

#include "nvdebug/expected.hpp"

namespace nvdebug::base {

/// Container runtimes look for devices in this folder. Its files last until the next boot.
inline constexpr const char *device_folder = "/run/cdi";

/// A result, or a sentence about what failed and what to do.
template <typename T>
using OrSentence = tl::expected<T, std::string>;

struct ContainerDevice {
    std::string kind;             ///< `nvdebug.io/tpcs`
    std::string name;             ///< is_device_name()
    nlohmann::ordered_json edits; ///< the value of `containerEdits`

    /// Returns the name as `podman run --device` takes it: `nvdebug.io/tpcs=half`.
    [[nodiscard]] std::string whole_name() const { return kind + "=" + name; }
};

/// Returns whether CDI permits @p name as the name of a device. Names of more than 63 bytes are
/// refused, because the name becomes a part of a file's name.
[[nodiscard]] bool is_device_name(std::string_view name);

/// Writes FOLDER/nvdebug.io-tpcs-NAME.json, which replaces an earlier one as a whole, since
/// runtimes read all files of the folder whenever they start a container.
[[nodiscard]] OrSentence<void> write_device(const ContainerDevice &device,
                                            const std::string &folder);

/// Writes devices of one kind as one file, FOLDER/nvdebug.io-tpcs-NAME.json, in the same way.
[[nodiscard]] OrSentence<void> write_devices(std::span<const ContainerDevice> devices,
                                             const std::string &name, const std::string &folder);

/// Returns the path of such a file.
[[nodiscard]] std::string device_file(const std::string &kind, const std::string &name,
                                      const std::string &folder);

/// Returns the path of this program. Fails if others than this user and root can change it:
/// runtimes run it as a hook, as root.
[[nodiscard]] OrSentence<std::string> own_path_for_hooks();

/// Fails if others than this user and root can change the file, which containers would run.
[[nodiscard]] OrSentence<void> expect_private(const std::string &path);

/// Reads the descriptor to its end. Text that is not JSON is read as null. Errors name the source
/// as @p what.
[[nodiscard]] OrSentence<nlohmann::json> read_json(int descriptor, std::size_t bytes_max,
                                                   const std::string &what);

/// Reads a container's state on standard input, where runtimes write it for hooks.
[[nodiscard]] OrSentence<nlohmann::json> read_container_state();

/// Returns the string at @p pointer in the document, or an empty string if there is no string.
[[nodiscard]] std::string text_at(const nlohmann::json &document, const char *pointer);

} // namespace nvdebug::base
