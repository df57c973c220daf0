// SPDX-License-Identifier: MIT OR GPL-2.0
// The lab's instruments run work on a GPU and print when it ran. They need NVIDIA's driver, and
// nothing of CUDA.
#include "instruments.hpp"

#include <cstdio>
#include <cstring>
#include <unistd.h>

namespace {

struct Instrument {
    const char *name;
    void (*run)(lab::Options &);
    const char *help;
} const instruments[] = {
    {"exec", lab::exec,
     "ms=500 blocks=4 threads=32 shared=0 kernel=log|log_wide|log_writes|log_tensor "
     "kernel_us=MS kernels=1 looking=BLOCKS copy=0\n"
     "        blocks that are there for kernel_us each and look at the clock; blocks=2x: two for "
     "each SM"},
    {"streams", lab::streams,
     "streams=9 kernels=4 kernel_us=20000 first_us=KERNEL_US blocks=1\n        first_us: of the "
     "first stream"},
    {"work", lab::work, "ms=500 blocks=8x threads=256 turns=20000"},
    {"flood", lab::flood, "blocks=100000 threads=256 turns=20000 delay_ms=0"},
    {"ops", lab::operations,
     "ms=500 kind=launch|h2d|d2h|d2d|set|alloc|managed|host bytes=65536 pause_us=200"},
    {"launch", lab::launches, "count=2000"},
    {"progress", lab::progress, "ms=500 bytes=16777216 gap_us=50"},
    {"copies", lab::copies,
     "ms=500 kind=h2d|d2h|d2d bytes=67108864 depth=1 pageable=0 kernels=0 blocks=0\n        "
     "kernels: "
     "empty ones, before each copy; blocks: of a kernel that copies, 0: a copy engine does"},
    {"behind", lab::behind,
     "ms=500 kind=h2d|d2h|d2d|kernel bytes=51200 queue_kind=h2d queue_bytes=67108864 depth=0 "
     "priority=0 "
     "pause_us=5000"},
    {"textures", lab::textures, "ms=500 side=2048 how=pbo|client|buffer|copy|down"},
    {"buffers", lab::buffers,
     "ms=500 kind=h2d|d2h|d2d bytes=67108864 family=0\n        family: of Vulkan's queue"},
};

} // namespace

void lab::ready() {
    std::fprintf(stderr, "ready\n");
    char letter = 0;
    while (read(0, &letter, 1) == 1 && letter != '\n')
        ;
}

int main(int argc, char **argv) {
    for (const Instrument &instrument : instruments)
        if (argc > 1 && !std::strcmp(argv[1], instrument.name)) {
            alarm(60); // ends the program if anything hangs
            lab::Options options(argc - 2, argv + 2);
            instrument.run(options);
            return 0;
        }
    std::fprintf(stderr,
                 "usage: instrument NAME [OPTION=VALUE]...\n"
                 "Says 'ready' on stderr, waits for a line or the end of stdin, prints JSON.\n");
    for (const Instrument &instrument : instruments)
        std::fprintf(stderr, "  %-8s %s\n", instrument.name, instrument.help);
    return 1;
}
