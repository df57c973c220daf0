// SPDX-License-Identifier: MIT OR GPL-2.0
// The instruments' kernels. kernels/make compiles them to kernels.ptx by Debian's clang; nothing of CUDA is needed.
// Each ends by %globaltimer, a clock of the whole GPU in nanoseconds: it goes on while a kernel is preempted, so that
// none runs for longer than it was asked to, plus its last slice. Times are nanoseconds.
#include "looks.cuh"

KERNEL log(char *logs, u64 duration, u64 gap, u32 capacity, u32 every) {
    if (thread() == 0)
        be_there(logs, duration, gap, capacity, every);
    __syncthreads(); // so that the block's other threads are there meanwhile
}

// The same, by a block each of whose threads has so many registers in use at all times.
template <int count> ON_GPU void log_with_registers(char *logs, u64 duration, u64 gap, u32 capacity, u32 every) {
    u32 held[count], sum = 0;
#pragma unroll
    for (int i = 0; i < count; i++)
        asm volatile("mov.u32 %0, %%clock;" : "=r"(held[i])); // nothing that could be computed again later
    if (thread() == 0)
        be_there(logs, duration, gap, capacity, every);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < count; i++)
        sum = sum * 3 + held[i];
    if (sum == 0x600d && capacity == 0) // never, and no compiler knows it
        *(u32 *)logs = sum;
}

KERNEL log_wide(char *logs, u64 duration, u64 gap, u32 capacity, u32 every) {
    log_with_registers<200>(logs, duration, gap, capacity, every);
}

// One interval a block, of which nothing is cut off: when and where it ran.
struct Ran {
    u64 begin, end;
    u32 sm, pad;
};

KERNEL spin(Ran *ran, u64 duration) {
    if (thread() == 0) {
        const u64 begin = now();
        while (now() - begin < duration)
            ;
        ran[block()].begin = begin;
        ran[block()].end = now();
        ran[block()].sm = __nvvm_read_ptx_sreg_smid();
    }
    __syncthreads();
}

// A fixed amount of arithmetic, whatever else runs.
KERNEL work(Ran *ran, u32 turns) {
    const u64 begin = thread() == 0 ? now() : 0;
    const float factor = 0.99999f;
    float a = (float)thread(), b = a, c = a, d = a;
    for (u32 turn = 0; turn < turns; turn++) {
        a = a * factor + factor;
        b = b * factor + factor;
        c = c * factor + factor;
        d = d * factor + factor;
    }
    if (thread() == 0 || a + b + c + d == 0) {
        ran[block()].begin = begin;
        ran[block()].end = now();
        ran[block()].sm = __nvvm_read_ptx_sreg_smid();
    }
}

// A copy by SMs; `bytes` is a multiple of 16.
struct alignas(16) Sixteen {
    u64 low, high;
};

KERNEL copy(Sixteen *to, const Sixteen *from, u64 bytes) {
    const u32 all = __nvvm_read_ptx_sreg_nctaid_x() * __nvvm_read_ptx_sreg_ntid_x();
    for (u64 i = block() * __nvvm_read_ptx_sreg_ntid_x() + thread(); i < bytes / 16; i += all)
        to[i] = from[i];
}

// The same as log, by blocks of which all warps but the first write memory all the time, so that caches hold lines that
// are not in memory yet.
KERNEL log_writes(char *logs, u64 duration, u64 gap, u32 capacity, u32 every, Sixteen *memory, u64 count) {
    static __attribute__((shared)) volatile u32 over;
    const u32 all = __nvvm_read_ptx_sreg_nctaid_x() * __nvvm_read_ptx_sreg_ntid_x();
    over = 0;
    __syncthreads();
    if (thread() == 0) {
        be_there(logs, duration, gap, capacity, every);
        over = 1;
    } else if (thread() >= 32) {
        for (u64 i = block() * __nvvm_read_ptx_sreg_ntid_x() + thread(); !over; i += all)
            memory[i % count].low = i;
    }
    __syncthreads();
}
