// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Sends requests to the running nvqos, at its socket (docs/qos.md).
#pragma once

#include <chrono>
#include <string>
#include <sys/un.h>

#include "lib/base/exit_status.hpp"
#include "nvdebug/expected.hpp"

namespace nvdebug::base {

/// The place of the socket unless nvqos or its clients are given another one.
inline constexpr const char *usual_nvqos_socket = "/run/nvdebug/nvqos.sock";

struct AskFailure {
    exit_status::Exit exit;
    std::string sentence;
};

/// Fails if the path is empty or too long for a socket.
[[nodiscard]] tl::expected<sockaddr_un, AskFailure> socket_address(const std::string &path);

/// Sends the line and waits for the answer, each at most @p patience long. Returns what follows
/// `ok`. Fails with nvqos' sentence, or if no nvqos answers at @p path.
[[nodiscard]] tl::expected<std::string, AskFailure>
ask_nvqos(const std::string &path, const std::string &line,
          std::chrono::seconds patience = std::chrono::seconds(10));

} // namespace nvdebug::base
