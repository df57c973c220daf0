// SPDX-License-Identifier: MIT OR GPL-2.0
// The boxes of `runlistY`.
#ifndef NVDEBUG_LIB_BOX_HPP
#define NVDEBUG_LIB_BOX_HPP

#include "text.hpp"

namespace nvdebug::text {

struct BoxTitle {
    std::size_t indent;
    std::string_view text; ///< `TSG Entry 5`
};

/** The line that opens a box. False at the end of the text, and if something is wrong. */
bool open_box(Scanner &scanner, BoxTitle &title);

/** A line of the box: key and value. False where the box is closed, and if something is wrong. */
bool next_in_box(Scanner &scanner, const BoxTitle &title, std::string_view &key,
                 std::string_view &value);

/** Fills in @p to from the lines of a box; those whose key is not in the table are skipped. */
template <typename T>
void read_box(Scanner &scanner, const BoxTitle &title, std::span<const Key<T>> keys, T &to) {
    Record<T> record(keys, to);
    for (std::string_view key, value; next_in_box(scanner, title, key, value);)
        record.set({scanner, key, value});
    record.require_all(scanner);
}

} // namespace nvdebug::text

#endif
