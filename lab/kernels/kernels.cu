// SPDX-License-Identifier: MIT OR GPL-2.0
// The instruments' kernels. kernels/make compiles them to kernels.ptx by Debian's clang; nothing of CUDA is needed.
// Each ends by %globaltimer, a clock of the whole GPU in nanoseconds: it goes on while a kernel is preempted, so that
// none runs for longer than it was asked to, plus its last slice. Times are nanoseconds.
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
