// SPDX-License-Identifier: MIT OR GPL-2.0
// Implements the reading part of core/machine.h over Words. The writing part is not linked.
#include "core_machine.hpp"

extern "C" {
#include "chips/chips.h"
#include "core/machine.h"
#include "decode/register.h"
#include "hw/pmc.h"
#include "hw/ram.h"
}
#include <linux/err.h>
#include <linux/slab.h>
#include <shim.h>

#include <cstdlib>

namespace nvdebug::driver {
namespace {

constexpr u32 register_bytes = 16U << 20;

} // namespace

int CoreMachine::failed(const Error &why) {
    if (!trouble)
        trouble = why;
    return why.number ? -why.number : -EIO;
}

int CoreMachine::fetch(u32 offset, u32 *value) {
    const auto read = ahead.read(*words, offset);
    if (!read)
        return failed(read.error());
    *value = *read;
    record.add_register(offset, *value);
    return 0;
}

int CoreMachine::memory(u64 address, std::span<u32> into) {
    ahead.memory_is_read();
    if (const auto done = words->memory(address, into); !done) {
        if (done.error().number == EFAULT)
            return -EFAULT;
        return failed(done.error());
    }
    record.add_memory(address, into);
    return 0;
}

void CoreMachine::forget() {
    trouble.reset();
    record.take();
    ahead.begin({});
}

} // namespace nvdebug::driver

using nvdebug::driver::CoreMachine;

int nvdebug_gpu_begin(nvdebug_gpu *) {
    return 0;
}

void nvdebug_gpu_end(nvdebug_gpu *gpu) {
    CoreMachine::of(gpu).ahead.expect_no_more();
}

int nvdebug_gpu_check_stop(const nvdebug_gpu *) {
    return shim.killed ? -EINTR : 0;
}

namespace {

bool is_register(u32 offset) {
    return offset % sizeof(u32) == 0 && offset < nvdebug::driver::register_bytes;
}

} // namespace

void nvdebug_reg_expect(nvdebug_gpu *gpu, u32 offset) {
    if (is_register(offset))
        CoreMachine::of(gpu).ahead.expect(offset);
}

int nvdebug_reg_read(nvdebug_gpu *gpu, u32 offset, u32 *value) {
    *value = 0;
    if (!is_register(offset))
        return -EIO;
    int error = CoreMachine::of(gpu).fetch(offset, value);
    if (error)
        return error;
    error = nvdebug_reg_value_check(*value);
    // All ones may be the answer of this register alone, or the GPU may be gone.
    if (error == -ENODEV && offset != NV_PMC_BOOT_0)
        error = nvdebug_gpu_check_alive(gpu);
    else
        return error;
    return error ? error : -EIO;
}

int nvdebug_reg_read_address(nvdebug_gpu *gpu, u32 offset, u32 bits, u32 *value) {
    const int error = nvdebug_reg_read(gpu, offset, value);
    return error == -EIO && *value && *value != ~u32{0} && !(*value & ~bits) ? 0 : error;
}

u64 nvdebug_reg_bytes(const nvdebug_gpu *) {
    return nvdebug::driver::register_bytes;
}

int nvdebug_gpu_check_alive(nvdebug_gpu *gpu) {
    u32 boot0 = 0;
    const int error = CoreMachine::of(gpu).fetch(NV_PMC_BOOT_0, &boot0);
    return error ? error : nvdebug_reg_value_check(boot0);
}

namespace {

/// Returns whether an error ends all reading, and not only one read. An error of the words does,
/// because it does not come from the GPU.
bool is_final(const CoreMachine &state, int error) {
    return nvdebug_mem_error_is_fatal(error) || (error && state.trouble);
}

/// Fails if there can be no such memory, or if it is not in video memory, where words are read.
int check_range(const nvdebug_gpu *gpu, const nvdebug_mem_request &want) {
    const u64 bytes = sizeof(u32) * want.words;
    if (want.addr % sizeof(u32) || want.addr + bytes < want.addr)
        return -EFAULT;
    switch (nvdebug_mem_place(gpu, want.aperture)) {
    case NVDEBUG_PLACE_VIDEO:
        return gpu->video_memory && want.addr + bytes > gpu->video_memory ? -EFAULT : 0;
    case NVDEBUG_PLACE_SYSTEM:
        return -EOPNOTSUPP;
    default:
        return -EFAULT;
    }
}

/// Fails if the words are the errors that the bus returns in place of data.
int check_words(nvdebug_gpu *gpu, nvdebug_mem_request &want) {
    std::size_t errors = 0;
    for (const u32 word : std::span(want.buf, want.words))
        errors += nvdebug_reg_value_check(word) != 0;
    if (!errors)
        return 0;
    want.maybe_pri_error = true;
    if (const int error = nvdebug_gpu_check_alive(gpu))
        return error;
    return errors == want.words ? -EIO : 0;
}

int read_memory(nvdebug_gpu *gpu, nvdebug_mem_request &want) {
    want.maybe_pri_error = false;
    int ret = check_range(gpu, want);
    if (!ret)
        ret = CoreMachine::of(gpu).memory(want.addr, {want.buf, want.words});
    return ret ? ret : check_words(gpu, want);
}

} // namespace

nvdebug_mem *nvdebug_mem_begin(nvdebug_gpu *gpu) {
    auto *const mem = static_cast<nvdebug_mem *>(kzalloc(sizeof(nvdebug_mem), GFP_KERNEL));
    if (!mem)
        return static_cast<nvdebug_mem *>(ERR_PTR(-ENOMEM));
    mem->gpu = gpu;
    return mem;
}

void nvdebug_mem_end(nvdebug_mem *mem) {
    kfree(mem);
}

int nvdebug_mem_read_all(nvdebug_mem *mem, list_head *requests) {
    nvdebug_mem_request *req;
    list_for_each_entry(req, requests, node) {
        req->error = read_memory(mem->gpu, *req);
        if (is_final(CoreMachine::of(mem->gpu), req->error))
            return req->error;
    }
    INIT_LIST_HEAD(requests);
    return 0;
}

// The module logs these messages. In this process, the returned error has the text.
void nvdebug_info_ratelimit(nvdebug_gpu *, const char *, ...) {}
void nvdebug_err_ratelimit(nvdebug_gpu *, const char *, ...) {}
void nvdebug_warn_ratelimit(nvdebug_gpu *, const char *, ...) {}

// --- the functions that core/shim needs ---

struct shim shim;

void *kmalloc(std::size_t size, gfp_t flags) {
    if (size > PTRDIFF_MAX)
        return nullptr;
    return flags & __GFP_ZERO ? std::calloc(1, size) : std::malloc(size);
}

void kfree(const void *memory) {
    std::free(const_cast<void *>(memory));
}
