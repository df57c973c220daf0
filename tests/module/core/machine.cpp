// SPDX-License-Identifier: MIT OR GPL-2.0
// The functions of core/machine.h. Memory is read word by word and without a window, because
// windows are the work of access/ and not of the core.
#include "machine.hpp"

extern "C" {
#include "chips/chips.h"
#include "decode/chip_id.h"
#include "decode/register.h"
#include "host/override_list.h"
#include "hw/ram.h"
#include "probe/modes.h"
#include "probe/probe.h"
}
#include <linux/err.h>
#include <linux/slab.h>

#include <cstdarg>
#include <map>
#include <utility>

namespace core {

namespace {

[[noreturn]] void wrong(const char *what) {
    std::fprintf(stderr, "the core: %s\n", what);
    std::abort();
}

} // namespace

Machine::Machine() {
    attached_.machine = this;
    nvdebug_gpu_init(gpu());
}

Machine::~Machine() {
    nvdebug_gpu_destroy(gpu());
}

Machine &Machine::of(const nvdebug_gpu *gpu) {
    return *container_of(gpu, Attached, gpu)->machine;
}

int Machine::probe() {
    int ret = nvdebug_gpu_begin(gpu());
    if (ret)
        return ret;
    ret = nvdebug_probe_chip(gpu());
    if (!ret && gpu()->chip && nvdebug_modes_read(gpu(), &gpu()->modes))
        ret = -EBUSY;
    if (!ret)
        ret = nvdebug_probe_features(gpu());
    if (ret)
        forget();
    nvdebug_gpu_end(gpu());
    return ret;
}

void Machine::forget() {
    nvdebug_probe_reset(gpu(), "forgotten");
}

void Machine::retire() {
    if (nvdebug_gpu_begin_undo(gpu()))
        return;
    nvdebug_overrides_retire(gpu(), 0);
    gpu()->uncontrollable = false;
    nvdebug_gpu_end(gpu());
}

int Machine::begin(bool undo) {
    if (open_)
        wrong("begin() is nested");
    if (asleep)
        return -ENODEV;
    if (!undo && shim.killed)
        return -EINTR;
    open_ = true;
    if (on_begin)
        on_begin();
    return 0;
}

void Machine::end() {
    must_be_open();
    if (gpu()->lock.held)
        wrong("end() with the lock held");
    open_ = false;
}

void Machine::must_be_open() const {
    if (!open_)
        wrong("an access outside of begin() and end()");
}

int Machine::next_request() {
    must_be_open();
    return ++requests == refuse ? refuse_with : 0;
}

} // namespace core

using core::Machine;

// --- the GPU ---

int nvdebug_gpu_begin(nvdebug_gpu *gpu) {
    return Machine::of(gpu).begin(false);
}

int nvdebug_gpu_begin_undo(nvdebug_gpu *gpu) {
    return Machine::of(gpu).begin(true);
}

void nvdebug_gpu_end(nvdebug_gpu *gpu) {
    Machine::of(gpu).end();
}

int nvdebug_gpu_check_stop(const nvdebug_gpu *gpu) {
    if (shim.killed)
        return -EINTR;
    return Machine::of(gpu).leaving ? -ENODEV : 0;
}

// --- registers ---

namespace {

constexpr u32 bar0_bytes = 16U << 20;

bool is_register(u32 offset) {
    return offset % 4 == 0 && offset < bar0_bytes;
}

u32 read_raw(nvdebug_gpu *gpu, u32 offset) {
    Machine &machine = Machine::of(gpu);
    machine.must_be_open();
    return machine.register_read(offset);
}

/// Returns -EIO, or the error of a GPU that does not answer at all.
int diagnose(nvdebug_gpu *gpu, int error) {
    const int alive = error == -ENODEV ? nvdebug_gpu_check_alive(gpu) : 0;
    return alive ? alive : -EIO;
}

} // namespace

int nvdebug_reg_read(nvdebug_gpu *gpu, u32 offset, u32 *value) {
    if (!is_register(offset))
        return -EIO;
    *value = read_raw(gpu, offset);
    const int error = nvdebug_reg_value_check(*value);
    return error ? diagnose(gpu, error) : 0;
}

int nvdebug_reg_read_address(nvdebug_gpu *gpu, u32 offset, u32 bits, u32 *value) {
    const int error = nvdebug_reg_read(gpu, offset, value);
    return error == -EIO && is_register(offset) && *value != ~0U && !(*value & ~bits) ? 0 : error;
}

void nvdebug_reg_expect(nvdebug_gpu *gpu, u32 offset) {
    Machine::of(gpu).expected.push_back(offset);
}

void nvdebug_reg_write(nvdebug_gpu *gpu, u32 offset, u32 value) {
    Machine &machine = Machine::of(gpu);
    machine.must_be_open();
    if (is_register(offset))
        machine.register_write(offset, value);
}

u64 nvdebug_reg_bytes(const nvdebug_gpu *) {
    return bar0_bytes;
}

int nvdebug_gpu_check_alive(nvdebug_gpu *gpu) {
    return nvdebug_reg_value_check(read_raw(gpu, 0));
}

// --- memory ---

namespace {

/// A session keeps the words of page tables by their places, because it reads each word once.
using Tables = std::map<std::pair<u8, u64>, u32>;

struct Session {
    nvdebug_mem base;
    Tables *tables;
};

Session *session_of(nvdebug_mem *mem) {
    return container_of(mem, Session, base);
}

nvdebug_mem *new_session(nvdebug_gpu *gpu, bool undo) {
    Machine::of(gpu).must_be_open();
    auto *session = static_cast<Session *>(
        kzalloc(sizeof(Session), undo ? GFP_KERNEL | __GFP_NOFAIL : GFP_KERNEL));
    if (!session)
        return nullptr;
    session->base.gpu = gpu;
    session->base.restoring = undo;
    session->tables = new Tables;
    return &session->base;
}

bool in_video(const nvdebug_gpu *gpu, u8 aperture) {
    return nvdebug_mem_place(gpu, aperture) == NVDEBUG_PLACE_VIDEO;
}

/// Returns -EFAULT if there can be no memory in that range.
int check_range(const nvdebug_gpu *gpu, u8 aperture, u64 addr, u64 bytes) {
    if (in_video(gpu, aperture) && gpu->lock.held)
        core::wrong("video memory with the lock held");
    if (addr % 4 != 0 || addr + bytes < addr)
        return -EFAULT;
    if (nvdebug_mem_place(gpu, aperture) == NVDEBUG_PLACE_NONE)
        return -EFAULT;
    return in_video(gpu, aperture) && gpu->video_memory && addr + bytes > gpu->video_memory
               ? -EFAULT
               : 0;
}

/// Returns the address in the machine, without the flag that some chips add to addresses of system
/// memory.
u64 place_of(const nvdebug_gpu *gpu, u8 aperture, u64 addr) {
    return in_video(gpu, aperture) ? addr : addr & ~gpu->chip->memory->flag;
}

int read_words(nvdebug_mem *mem, nvdebug_mem_request *want) {
    nvdebug_gpu *gpu = mem->gpu;
    Tables &tables = *session_of(mem)->tables;
    for (size_t i = 0; i < want->words; i++) {
        if (nvdebug_mem_skips(want, i)) {
            want->buf[i] = 0;
            continue;
        }
        const u64 at = place_of(gpu, want->aperture, want->addr + 4 * i);
        const auto kept = tables.find({want->aperture, at});
        const auto word = want->table && kept != tables.end()
                              ? std::optional(kept->second)
                              : Machine::of(gpu).memory_read(want->aperture, at);
        if (!word)
            return -EFAULT;
        want->buf[i] = *word;
        if (want->table)
            tables[{want->aperture, at}] = *word;
    }
    return 0;
}

/// Returns an error if the GPU does not answer, or if all words are error words. Sets
/// `maybe_pri_error` if any word looks like an error.
int judge(nvdebug_gpu *gpu, nvdebug_mem_request *want) {
    size_t wanted = 0, errors = 0;
    for (size_t i = 0; i < want->words; i++) {
        if (nvdebug_mem_skips(want, i))
            continue;
        wanted++;
        errors += nvdebug_reg_value_check(want->buf[i]) != 0;
    }
    if (errors == 0)
        return 0;
    want->maybe_pri_error = true;
    const int alive = nvdebug_gpu_check_alive(gpu);
    if (alive)
        return alive;
    return errors == wanted ? -EIO : 0;
}

int read_memory(nvdebug_mem *mem, nvdebug_mem_request *want) {
    nvdebug_gpu *gpu = mem->gpu;
    want->maybe_pri_error = false;
    if (!mem->restoring && shim.killed)
        return -EINTR;
    int ret = Machine::of(gpu).next_request();
    if (!ret)
        ret = check_range(gpu, want->aperture, want->addr, 4 * want->words);
    if (!ret)
        ret = read_words(mem, want);
    if (!ret && in_video(gpu, want->aperture))
        ret = judge(gpu, want);
    return ret;
}

} // namespace

nvdebug_mem *nvdebug_mem_begin(nvdebug_gpu *gpu) {
    nvdebug_mem *mem = new_session(gpu, false);
    return mem ? mem : static_cast<nvdebug_mem *>(ERR_PTR(-ENOMEM));
}

nvdebug_mem *nvdebug_mem_begin_undo(nvdebug_gpu *gpu) {
    return new_session(gpu, true);
}

void nvdebug_mem_end(nvdebug_mem *mem) {
    delete session_of(mem)->tables;
    kfree(session_of(mem));
}

void nvdebug_mem_set_restoring(nvdebug_mem *mem) {
    mem->restoring = true;
}

int nvdebug_mem_read_all(nvdebug_mem *mem, list_head *requests) {
    nvdebug_mem_request *req;
    list_for_each_entry(req, requests, node) {
        req->error = read_memory(mem, req);
        if (nvdebug_mem_error_is_fatal(req->error))
            return req->error;
    }
    INIT_LIST_HEAD(requests);
    return 0;
}

int nvdebug_mem_write(nvdebug_mem *mem, const nvdebug_mem_change *change) {
    nvdebug_gpu *gpu = mem->gpu;
    Machine &machine = Machine::of(gpu);
    const u8 aperture = change->aperture;
    const auto check = [&](u64 addr, u32 expected) {
        const auto word = machine.memory_read(aperture, place_of(gpu, aperture, addr));
        return word ? nvdebug_word_check(*word, expected) : -EFAULT;
    };
    if (nvdebug_mem_needs_lock(gpu, aperture) != gpu->lock.held)
        core::wrong("a write with the lock not as its memory needs it");
    int ret = machine.next_request();
    if (!ret)
        ret = check_range(gpu, aperture, change->addr, 4);
    for (u32 i = 0; !ret && i < change->guards; i++) {
        if ((change->guard[i].addr ^ change->addr) >= 4096)
            core::wrong("a guard in another page");
        ret = check(change->guard[i].addr, change->guard[i].value);
    }
    if (!ret)
        ret = check(change->addr, change->expected);
    if (!ret) {
        const u64 place = place_of(gpu, aperture, change->addr);
        machine.memory_write(aperture, place, change->value);
        ret = machine.memory_read(aperture, place) == change->value ? 0 : -EIO;
    }
    if (in_video(gpu, aperture) && (ret == -EIO || ret == -EBUSY)) {
        const int alive = nvdebug_gpu_check_alive(gpu);
        return alive ? alive : ret;
    }
    return ret;
}

// --- memory for lists ---

nvdebug_list_memory *nvdebug_list_memory_alloc(nvdebug_gpu *gpu, const u32 *words, u32 count,
                                               u64 reach) {
    Machine &machine = Machine::of(gpu);
    auto *memory =
        static_cast<nvdebug_list_memory *>(kzalloc(sizeof(nvdebug_list_memory), GFP_KERNEL));
    if (!memory)
        return static_cast<nvdebug_list_memory *>(ERR_PTR(-ENOMEM));
    memory->aperture = gpu->chip->memory->list_aperture;
    memory->bytes = 4 * count;
    const auto lent = machine.lend(memory->bytes);
    int ret = lent ? 0 : -ENOMEM;
    if (lent) {
        memory->addr = *lent;
        if (memory->addr & ~reach) {
            machine.take_back(memory->addr, memory->bytes);
            ret = -EOPNOTSUPP;
        }
    }
    if (ret) {
        kfree(memory);
        return static_cast<nvdebug_list_memory *>(ERR_PTR(ret));
    }
    for (u32 i = 0; i < count; i++)
        machine.memory_write(memory->aperture, memory->addr + 4 * i, words[i]);
    return memory;
}

void nvdebug_list_memory_free(nvdebug_gpu *gpu, nvdebug_list_memory *memory) {
    Machine::of(gpu).take_back(memory->addr, memory->bytes);
    kfree(memory);
}

void nvdebug_list_memory_abandon(nvdebug_list_memory *memory) {
    kfree(memory);
}

// --- the log ---

namespace {

std::string line(const char *fmt, va_list args) {
    char text[512];
    std::vsnprintf(text, sizeof(text), fmt, args);
    return text;
}

} // namespace

void nvdebug_info_ratelimit(nvdebug_gpu *gpu, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    Machine::of(gpu).done.push_back(line(fmt, args));
    va_end(args);
}

void nvdebug_err_ratelimit(nvdebug_gpu *gpu, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    Machine::of(gpu).errors.push_back(line(fmt, args));
    va_end(args);
}

void nvdebug_warn_ratelimit(nvdebug_gpu *gpu, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    Machine::of(gpu).warnings.push_back(line(fmt, args));
    va_end(args);
}
