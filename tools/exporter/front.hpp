// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The front: a process of its own, without rights, that reads the network for the exporter.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <sys/types.h>

namespace nvdebug::exporter {

/// The address at which the front answers; empty host: all addresses of the machine.
struct Address {
    std::string host, port;
};

/// Parses `9745`, `:9745`, `*:9745`, `127.0.0.1:9745`, `[::1]:9745` or `localhost:9745`.
[[nodiscard]] std::optional<Address> parse_address(const std::string &text);

/// Returns a socket that listens at the address; -errno: there is none.
int listen_at(const Address &address);

/// The most bytes of bodies that the front keeps for connections that have not read them. All
/// connections that are answered together share one body, but a client that asks again and again
/// without reading gets further bodies. Before a new body would exceed the bound, the connections
/// with the oldest bodies are closed. The unit allows 512 MiB for both processes.
inline constexpr std::size_t bodies_most = std::size_t{64} << 20;

/// Gives up all rights, and answers HTTP at @p listener until @p reader is closed: `/metrics` with
/// the reader's text, `/healthz`, `/`. It never returns.
///
/// The front asks the reader by one byte. The reader answers with the length of a text (64 bits, in
/// this machine's byte order) and the text. The front asks for one text at a time; requests that
/// arrive before the answer get the same text.
[[noreturn]] void run_front(int listener, int reader, const std::string &version);

/// Called by the reader: waits for a question. Returns false if the front has ended.
bool await_question(int front);
/// Called by the reader: sends the answer. Returns false if the front has ended, or does not read.
bool answer_question(int front, const std::string &text);

} // namespace nvdebug::exporter
