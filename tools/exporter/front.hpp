// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The part of the exporter that reads the network: a process of its own, without rights.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <sys/types.h>

namespace nvdebug::exporter {

/// Where it answers; empty host: at all addresses of the machine.
struct Address {
    std::string host, port;
};

/// `9745`, `:9745`, `*:9745`, `127.0.0.1:9745`, `[::1]:9745`, `localhost:9745`.
[[nodiscard]] std::optional<Address> parse_address(const std::string &text);

/// A socket that listens there; -errno: there is none.
int listen_at(const Address &address);

/// Bytes of answers, at most, that the front keeps for connections that have not read them. All
/// connections that are answered together share one body, but a client that asks again and again
/// without reading gets other bodies. Where a new body would exceed the bound, the connections with
/// the oldest ones are closed. The unit allows 512 MiB for both processes.
inline constexpr std::size_t bodies_most = std::size_t{64} << 20;

/// Gives up all rights, and answers HTTP at @p listener until @p reader is closed: `/metrics` with
/// the reader's text, `/healthz`, `/`. Never returns.
///
/// The reader is asked by one byte, and answers with a text's length (64 bits, of this machine) and
/// the text. It is asked for one text at a time; requests that arrive meanwhile get the same text.
[[noreturn]] void run_front(int listener, int reader, const std::string &version);

/// For the reader: waits for a question. False: the front has ended.
bool await_question(int front);
/// False: the front has ended, or does not read.
bool answer_question(int front, const std::string &text);

} // namespace nvdebug::exporter
