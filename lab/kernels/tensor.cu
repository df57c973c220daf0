// SPDX-License-Identifier: MIT OR GPL-2.0
// A kernel for tensor cores, which GPUs since Volta have.
#include "looks.cuh"

// The same as log, by blocks of which all warps but the first multiply matrices of 16 by 16 halves all the time.
KERNEL log_tensor(char *logs, u64 duration, u64 gap, u32 capacity, u32 every) {
    static __attribute__((shared)) volatile u32 over;
    over = 0;
    __syncthreads();
    if (thread() == 0) {
        be_there(logs, duration, gap, capacity, every);
        over = 1;
    } else if (thread() >= 32) {
        const u32 half = 0x3c003c00; // two halves of 1.0
        float a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0;
        while (!over)
            asm volatile("wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {%0, %1, %2, %3, %4, %5, %6, %7}, "
                         "{%8, %8, %8, %8, %8, %8, %8, %8}, {%8, %8, %8, %8, %8, %8, %8, %8}, "
                         "{%0, %1, %2, %3, %4, %5, %6, %7};"
                         : "+f"(a), "+f"(b), "+f"(c), "+f"(d), "+f"(e), "+f"(f), "+f"(g), "+f"(h)
                         : "r"(half));
    }
    __syncthreads();
}
