// SPDX-License-Identifier: MIT OR GPL-2.0
// core/machine.h for what only reads.
#include "machine.hpp"
#include "read_ahead.hpp"

extern "C" {
#include "chips/chips.h"
#include "control/controls.h"
#include "core/gpu.h"
#include "core/machine.h"
#include "core/view.h"
#include "decode/engine_status.h"
#include "decode/ptop.h"
#include "decode/register.h"
#include "hw/pmc.h"
#include "hw/ram.h"
#include "probe/info.h"
#include "probe/modes.h"
#include "probe/probe.h"
#include "views/views.h"
}
#include <linux/err.h>
#include <linux/seq_buf.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <shim.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <unordered_map>

namespace nvdebug::driver {

struct Machine::State {
    nvdebug_gpu gpu{};
    std::unique_ptr<Words> words;
    Attachment attachment;
    const char *away = nullptr;   // why nothing but `info` is there
    std::string closed;           // the same, where the driver gives it
    std::optional<Error> trouble; // of the words, since the last read() began
    Record record;                // of the words, since the last read() began
    std::string probed;           // those that finding out about the GPU took
    std::mutex lock;

    ReadAhead ahead;
    std::unordered_map<std::string, ReadAhead::Plan> plans; // by file

    static State &of(const nvdebug_gpu *gpu) { return *container_of(gpu, State, gpu); }

    int fetch(u32 offset, u32 *value);
    int failed(const Error &why);
    int memory(u64 address, std::span<u32> into);
    void forget();
};

namespace {

constexpr u32 register_bytes = 16U << 20;
constexpr const char *controls_need_module =
    "through NVIDIA's driver only what processes have can be changed; the rest takes the module";
constexpr const char *memory_is_mapped = "not used: NVIDIA's driver maps memory";

/** Closes what may still be ahead: what is read later is to be as it is then. */
class Access {
  public:
    explicit Access(Machine::State &state) : state_(state) {}
    Access(const Access &) = delete;
    Access &operator=(const Access &) = delete;
    ~Access() { nvdebug_gpu_end(&state_.gpu); }

  private:
    Machine::State &state_;
};

std::string text_of(seq_file &m) {
    std::string text(m.buf ? m.buf : "", m.count);
    std::free(m.buf);
    return text;
}

void show_pci(seq_file *m, const void *state) {
    seq_puts(m, static_cast<const Machine::State *>(state)->attachment.pci.c_str());
}

std::string numbered(const char *name, u32 number) {
    std::array<char, 64> text{};
    // The table's own names, with one %u.
    std::snprintf(text.data(), text.size(), name, number);
    return text.data();
}

/** Calls @p found with name, view and number of each readable file, until it returns true. */
template <typename Found>
bool each_view(nvdebug_gpu *gpu, Found found) {
    for (const nvdebug_view_file &file : std::span(nvdebug_view_files, nvdebug_view_files_count)) {
        if ((file.feature >= 0 && gpu->missing[file.feature]) || (file.exists && !file.exists(gpu)))
            continue;
        u32 number = 0;
        if (!file.nth && found(std::string(file.name), file.view, number))
            return true;
        for (u32 n = 0; file.nth && file.nth(gpu, n, &number); n++)
            if (found(numbered(file.name, number), file.view, number))
                return true;
    }
    return false;
}

} // namespace

// --- the words ---

int Machine::State::failed(const Error &why) {
    if (!trouble)
        trouble = why;
    return why.number ? -why.number : -EIO;
}

int Machine::State::fetch(u32 offset, u32 *value) {
    const auto read = ahead.read(*words, offset);
    if (!read)
        return failed(read.error());
    *value = *read;
    record.add_register(offset, *value);
    return 0;
}

int Machine::State::memory(u64 address, std::span<u32> into) {
    ahead.memory_is_read();
    if (const auto done = words->memory(address, into); !done) {
        if (done.error().number == EFAULT)
            return -EFAULT;
        return failed(done.error());
    }
    record.add_memory(address, into);
    return 0;
}

/** What the last read() left. */
void Machine::State::forget() {
    trouble.reset();
    record.take();
    ahead.begin({});
}

// --- a GPU ---

Machine::Machine(std::unique_ptr<State> state) : state_(std::move(state)) {}

Machine::~Machine() {
    nvdebug_gpu_destroy(&state_->gpu);
}

Result<std::unique_ptr<Machine>> Machine::probe(std::unique_ptr<Words> words,
                                                Attachment attachment) {
    auto made = std::make_unique<State>();
    nvdebug_gpu *const gpu = &made->gpu;
    nvdebug_gpu_init(gpu);
    made->words = std::move(words);
    made->attachment = std::move(attachment);
    std::unique_ptr<Machine> machine(new Machine(std::move(made)));
    State &state = *machine->state_;

    int ret = nvdebug_gpu_begin(gpu);
    const Access access(state);
    if (!ret)
        ret = nvdebug_probe_chip(gpu, nullptr);
    if (!ret && gpu->chip)
        state.away = nvdebug_modes_read(gpu, &gpu->modes);
    if (!ret && state.away)
        nvdebug_probe_reset(gpu, state.away);
    else if (!ret)
        ret = nvdebug_probe_features(gpu);
    state.probed = state.record.take();
    if (state.trouble)
        return tl::unexpected(*state.trouble);
    if (ret)
        return tl::unexpected(Error{code_of_errno(-ret), -ret, "", ""});
    for (const int control : {NVDEBUG_FEATURE_CHANNEL_CONTROL, NVDEBUG_FEATURE_RUNLIST_CONTROL,
                              NVDEBUG_FEATURE_PREEMPTION_MODE})
        if (!gpu->missing[control])
            gpu->missing[control] = controls_need_module;
    return machine;
}

std::unique_ptr<Machine> Machine::closed(const std::string &why, Attachment attachment) {
    auto state = std::make_unique<State>();
    nvdebug_gpu_init(&state->gpu);
    state->attachment = std::move(attachment);
    state->closed = why;
    state->away = state->closed.c_str();
    nvdebug_probe_reset(&state->gpu, state->away);
    return std::unique_ptr<Machine>(new Machine(std::move(state)));
}

std::vector<Machine::Name> Machine::files() const {
    nvdebug_gpu *const gpu = &state_->gpu;
    std::vector<Name> names{{"info", true}};
    if (state_->away)
        return names;
    each_view(gpu, [&](std::string name, const nvdebug_view *, u32) {
        names.push_back({std::move(name), true});
        return false;
    });
    if (!gpu->missing[NVDEBUG_FEATURE_CONTEXTS])
        names.push_back({"translate", false});
    return names;
}

namespace {

Error error_of(const Machine::State &state, int ret) {
    if (state.trouble && ret != -ENOENT)
        return *state.trouble;
    return {code_of_errno(-ret), -ret, "", ""};
}

std::string info(Machine::State &state) {
    nvdebug_attachment attachment{};
    attachment.identified = state.closed.empty();
    attachment.driver = state.attachment.driver.c_str();
    std::ranges::copy(state.attachment.bar_bytes, attachment.bar_bytes);
    attachment.away = state.away;
    attachment.window = memory_is_mapped;
    attachment.show_pci = show_pci;
    attachment.bus = &state;
    seq_file m{};
    nvdebug_info_show(&m, &state.gpu, &attachment);
    return text_of(m);
}

Result<std::string> show(Machine::State &state, const nvdebug_view &view, u32 number) {
    nvdebug_snapshot *snapshot;
    {
        const int ret = nvdebug_gpu_begin(&state.gpu);
        if (ret)
            return tl::unexpected(error_of(state, ret));
        const Access access(state);
        snapshot = view.take(&state.gpu, number);
    }
    if (IS_ERR(snapshot))
        return tl::unexpected(error_of(state, static_cast<int>(PTR_ERR(snapshot))));
    seq_file m{};
    for (std::size_t record = 0; record < snapshot->records; record++)
        view.show(&m, &state.gpu, snapshot, record);
    view.free(snapshot);
    return text_of(m);
}

std::string name_of(const nvdebug_engine &engine) {
    const char *const name = nvdebug_engine_type_name(engine.type);
    if (!name)
        return "TYPE-" + std::to_string(engine.type) + ":" + std::to_string(engine.inst);
    const std::string text = name;
    return text.back() >= '0' && text.back() <= '9' ? text : text + std::to_string(engine.inst);
}

std::string name_of(const nvdebug_ctx_owner &owner) {
    return owner.there ? (owner.is_tsg ? "tsg:" : "channel:") + std::to_string(owner.id) : "-";
}

std::string state_of(const nvdebug_ctx_status &status) {
    const char *const name = nvdebug_ctx_state_name(static_cast<nvdebug_ctx_state>(status.state));
    return name ? name : "undefined-" + std::to_string(status.code);
}

/** The part of `engines` that takes one register of each engine: a sample is one call. */
Result<std::string> engines_brief(Machine::State &state) {
    nvdebug_gpu *const gpu = &state.gpu;
    if (state.away || gpu->missing[NVDEBUG_FEATURE_ENGINES])
        return tl::unexpected(Error{ErrorCode::not_found, ENOENT, "", ""});
    const nvdebug_status_ops *const ops = gpu->chip->status;
    const auto engines = std::span(gpu->topology.engine, gpu->topology.engines);
    const auto is_driven = [](const nvdebug_engine &engine) {
        return (engine.has & NVDEBUG_ENGINE_HAS_RUNLIST) != 0;
    };
    for (const nvdebug_engine &engine : engines)
        if (const u32 reg = is_driven(engine) ? ops->engine_reg(gpu, &engine) : 0)
            nvdebug_reg_expect(gpu, reg);
    std::string text = "# engine runlist status current next busy faulted reload channel pbdmas "
                       "pbdma_status pbdma_current pbdma_next pbdma_channel\n";
    for (const nvdebug_engine &engine : engines) {
        if (!is_driven(engine))
            continue;
        text += name_of(engine) + " " + std::to_string(engine.runlist);
        const u32 reg = ops->engine_reg(gpu, &engine);
        u32 word = 0;
        const int error = reg ? nvdebug_reg_read(gpu, reg, &word) : 0;
        // It may be that one that does not answer, or that none can be asked.
        if (error && (error != -EIO || state.trouble))
            return tl::unexpected(error_of(state, error));
        nvdebug_engine_status status{};
        ops->engine(word, &status);
        if (!reg || error)
            text += reg ? " unreadable - - -" : " - - - -";
        else
            text += " " + state_of(status.ctx) + " " + name_of(status.ctx.owner) + " " +
                    name_of(status.ctx.next) + (status.busy ? " 1" : " 0");
        text += " - - - - - - - -\n";
    }
    return text;
}

} // namespace

Result<std::string> Machine::read(std::string_view file) {
    const std::scoped_lock held(state_->lock);
    state_->forget();
    if (file == "info")
        return info(*state_);
    if (file == "engines_brief")
        return engines_brief(*state_);
    ReadAhead::Plan &plan = state_->plans[std::string(file)];
    state_->ahead.begin(std::move(plan));
    Result<std::string> text = tl::unexpected(Error{ErrorCode::not_found, ENOENT, "", ""});
    if (!state_->away)
        each_view(&state_->gpu, [&](const std::string &name, const nvdebug_view *view, u32 number) {
            if (name == file)
                text = show(*state_, *view, number);
            return name == file;
        });
    plan = state_->ahead.end();
    return text;
}

Result<std::string> Machine::translate(const std::string &request) {
    const std::scoped_lock held(state_->lock);
    state_->forget();
    if (state_->away || state_->gpu.missing[NVDEBUG_FEATURE_CONTEXTS])
        return tl::unexpected(Error{ErrorCode::not_found, ENOENT, "", ""});
    if (request.size() > nvdebug_translate_control.text_max)
        return tl::unexpected(Error{ErrorCode::invalid, E2BIG, "", ""});
    std::array<char, 4096> text{};
    seq_buf answer;
    seq_buf_init(&answer, text.data(), text.size());
    int ret = nvdebug_translate_control.act(&state_->gpu, request.c_str(), request.size(), &answer,
                                            nullptr);
    if (!ret && seq_buf_has_overflowed(&answer))
        ret = -EFBIG;
    if (ret)
        return tl::unexpected(error_of(*state_, ret));
    return std::string(text.data(), seq_buf_used(&answer));
}

std::string Machine::take_record() {
    const std::scoped_lock held(state_->lock);
    return state_->record.take();
}

const std::string &Machine::probe_record() const {
    return state_->probed;
}

} // namespace nvdebug::driver

// --- core/machine.h ---

using State = nvdebug::driver::Machine::State;

int nvdebug_gpu_begin(nvdebug_gpu *) {
    return 0;
}

void nvdebug_gpu_end(nvdebug_gpu *gpu) {
    State::of(gpu).ahead.expect_no_more();
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
        State::of(gpu).ahead.expect(offset);
}

int nvdebug_reg_read(nvdebug_gpu *gpu, u32 offset, u32 *value) {
    *value = 0;
    if (!is_register(offset))
        return -EIO;
    int error = State::of(gpu).fetch(offset, value);
    if (error)
        return error;
    error = nvdebug_reg_value_check(*value);
    // All ones: this register, or everything?
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
    const int error = State::of(gpu).fetch(NV_PMC_BOOT_0, &boot0);
    return error ? error : nvdebug_reg_value_check(boot0);
}

namespace {

/** Errors that end everything, not only one read: those of the words are not of the GPU. */
bool is_final(const State &state, int error) {
    return nvdebug_mem_error_is_fatal(error) || (error && state.trouble);
}

/** Could there be such memory, and is it where words are read? */
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

/** Is what came over the bus an answer at all? */
int judge(nvdebug_gpu *gpu, nvdebug_mem_request &want) {
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
        ret = State::of(gpu).memory(want.addr, {want.buf, want.words});
    return ret ? ret : judge(gpu, want);
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
        if (is_final(State::of(mem->gpu), req->error))
            return req->error;
    }
    INIT_LIST_HEAD(requests);
    return 0;
}

// The module logs these. Here the returned error has the text.
void nvdebug_info_ratelimit(nvdebug_gpu *, const char *, ...) {}
void nvdebug_err_ratelimit(nvdebug_gpu *, const char *, ...) {}
void nvdebug_warn_ratelimit(nvdebug_gpu *, const char *, ...) {}

// --- what the shim asks of its program ---

struct shim shim;

void *kmalloc(std::size_t size, gfp_t flags) {
    if (size > PTRDIFF_MAX)
        return nullptr;
    return flags & __GFP_ZERO ? std::calloc(1, size) : std::malloc(size);
}

void kfree(const void *memory) {
    std::free(const_cast<void *>(memory));
}
