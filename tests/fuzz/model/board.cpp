// SPDX-License-Identifier: MIT OR GPL-2.0
// A board's file is refused in one sentence, or makes a device that can be started and read.
#include "device.hpp"
#include "memory_file.hpp"

using namespace nvmodel;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const Workload low = fuzz::workload("low"), anywhere = fuzz::workload("idle");
    const fuzz::MemoryFile file({reinterpret_cast<const char *>(data), size});
    try {
        Board board = load_board(file.path());
        const Workload &workload = board.generation->has_video_memory() ? low : anywhere;
        Gpu gpu(std::move(board), workload, fuzz::Guest::range);
        fuzz::Guest memory;
        gpu.attach(&memory);
        for (std::uint32_t at = 0; at < 0x40000; at += 0x1004)
            gpu.bar_read(Bar::registers, at, 4);
        gpu.start();
        gpu.advance(2'000'000);
        fuzz::check(gpu);
    } catch (const ConfigError &error) {
        FUZZ_REQUIRE(*error.what());
    }
    return 0;
}
