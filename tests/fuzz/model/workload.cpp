// SPDX-License-Identifier: MIT OR GPL-2.0
// A workload's file, on a board that the first byte selects, is refused in one sentence, or runs.
#include "device.hpp"
#include "memory_file.hpp"

using namespace nvmodel;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (!size)
        return 0;
    const fuzz::MemoryFile file({reinterpret_cast<const char *>(data + 1), size - 1});
    try {
        const Workload workload = load_workload(file.path());
        Gpu gpu(fuzz::board(data[0]), workload, fuzz::Guest::range);
        fuzz::Guest memory;
        gpu.attach(&memory);
        gpu.start();
        gpu.advance(2'000'000);
        fuzz::check(gpu);
    } catch (const ConfigError &error) {
        FUZZ_REQUIRE(*error.what());
    }
    return 0;
}
