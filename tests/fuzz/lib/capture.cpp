// SPDX-License-Identifier: MIT OR GPL-2.0
// Parses a capture, compressed or not, from its bytes to the answers.
#include "memory_file.hpp"
#include "read_all.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const fuzz::MemoryFile file({reinterpret_cast<const char *>(data), size});
    const auto tree = nvdebug::Tree::open(file.path());
    if (fuzz::fine(tree))
        fuzz::read_all(*tree);
    return 0;
}
