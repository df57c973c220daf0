// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file What a verb found: one set of data, from which every form is made. */
#ifndef NVDEBUGCTL_DOCUMENT_HPP
#define NVDEBUGCTL_DOCUMENT_HPP

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>

#include "failure.hpp"

namespace nvdebugctl {

class Page;

using Json = nlohmann::ordered_json;

struct Document {
    Json data;
    /** Rows of table and CSV, keys as the command's columns; empty: data is the rows. */
    std::optional<Json> rows = std::nullopt;
    /** Exit status of a finding (`engine shared`, `check`); data is printed all the same. */
    Exit exit = done;
    /** What a person reads, where data alone does not make it; nullptr: as the command says. */
    std::function<void(Page &)> print = nullptr;
    /** Runs once the document is on stdout: holds a lease, say. */
    std::function<Outcome<void>()> then = nullptr;

    const Json &table() const { return rows ? *rows : data; }
};

} // namespace nvdebugctl

#endif
