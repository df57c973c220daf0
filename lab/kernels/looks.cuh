// SPDX-License-Identifier: MIT OR GPL-2.0
// What kernels of all files here have in common: looks at the GPU's clock, and logs of when a block ran.
#define KERNEL extern "C" __attribute__((global)) void
#define ON_GPU static __attribute__((device)) inline

typedef unsigned long long u64;
typedef unsigned int u32;

ON_GPU u64 now() {
    u64 time;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time)::"memory");
    return time;
}

ON_GPU u32 block() { return __nvvm_read_ptx_sreg_ctaid_x(); }
ON_GPU u32 thread() { return __nvvm_read_ptx_sreg_tid_x(); }

// Bytes: 16 of head, then intervals.
struct Log {
    u32 sm;        // of the first look
    u32 intervals; // how many there were, also of those that did not fit
    u64 last_sm;
    struct {
        u64 begin, end;
    } ran[];
};

// When this block ran: while two looks at the clock are less than `gap` apart, it did.
ON_GPU void look_at_the_clock(char *logs, u64 duration, u64 gap, u32 capacity) {
    Log *log = (Log *)(logs + block() * (sizeof(Log) + 16ull * capacity));
    const u64 start = now();
    u64 begin = start, last = start;
    u32 count = 0;
    log->sm = __nvvm_read_ptx_sreg_smid();
    while (last - start < duration) {
        const u64 time = now();
        if (time - last > gap) {
            if (count < capacity) {
                log->ran[count].begin = begin;
                log->ran[count].end = last;
            }
            count++;
            begin = time;
        }
        last = time;
    }
    if (count < capacity) {
        log->ran[count].begin = begin;
        log->ran[count].end = last;
    }
    log->intervals = count + 1;
    log->last_sm = __nvvm_read_ptx_sreg_smid();
}

// The GPU answers about 19 million looks at its clock a second, those of all SMs together (an H100). So of many blocks
// only each `every`th one looks as often as it can; the others look now and then, until they have been there for so long.
ON_GPU void be_there(char *logs, u64 duration, u64 gap, u32 capacity, u32 every) {
    if (block() % every == 0)
        return look_at_the_clock(logs, duration, gap, capacity);
    u32 cycles;
    for (const u64 start = now(); now() - start < duration;)
        for (u32 i = 0; i < 1000; i++)
            asm volatile("mov.u32 %0, %%clock;" : "=r"(cycles));
}
