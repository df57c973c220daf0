// SPDX-License-Identifier: MIT OR GPL-2.0
// Makes the files of a GPU from the views of the core.
#include "machine.hpp"
#include "core_machine.hpp"

extern "C" {
#include "chips/chips.h"
#include "control/controls.h"
#include "core/gpu.h"
#include "core/machine.h"
#include "core/view.h"
#include "probe/info.h"
#include "probe/modes.h"
#include "probe/probe.h"
#include "views/views.h"
}
#include <linux/err.h>
#include <linux/seq_buf.h>
#include <linux/seq_file.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <unordered_map>

namespace nvdebug::driver {

struct Machine::State {
    CoreMachine core;
    Attachment attachment;
    const char *away = nullptr; // why only `info` exists
    std::string closed;         // the same reason, where the driver gives it
    std::string probed;         // the words that were read to identify the GPU
    std::mutex lock;
    std::unordered_map<std::string, ReadAhead::Plan> plans; // by file
};

namespace {

constexpr const char *controls_need_module =
    "through NVIDIA's driver only what processes have can be changed; the rest takes the module";
/// A sample of `engines` that takes one call to the driver. It can be read, but is not listed.
constexpr std::string_view brief_engines = "engines_brief";
constexpr const char *memory_is_mapped = "not used: NVIDIA's driver maps memory";

/// One access to the core. Its end drops the values that were read ahead, so that a later read gets
/// present values.
class Access {
  public:
    explicit Access(Machine::State &state) : state_(state) {}
    Access(const Access &) = delete;
    Access &operator=(const Access &) = delete;
    ~Access() { nvdebug_gpu_end(&state_.core.gpu); }

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
    // The names are those of the table and contain at most one %u.
    std::snprintf(text.data(), text.size(), name, number);
    return text.data();
}

/// Calls @p found with the name, view and number of each readable file, until it returns true.
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

// --- a GPU ---

Machine::Machine(std::unique_ptr<State> state) : state_(std::move(state)) {}

Machine::~Machine() {
    nvdebug_gpu_destroy(&state_->core.gpu);
}

Result<std::unique_ptr<Machine>> Machine::probe(std::unique_ptr<Words> words,
                                                Attachment attachment) {
    auto made = std::make_unique<State>();
    nvdebug_gpu *const gpu = &made->core.gpu;
    nvdebug_gpu_init(gpu);
    made->core.words = std::move(words);
    made->attachment = std::move(attachment);
    std::unique_ptr<Machine> machine(new Machine(std::move(made)));
    State &state = *machine->state_;

    int ret = nvdebug_gpu_begin(gpu);
    const Access access(state);
    if (!ret)
        ret = nvdebug_probe_chip(gpu);
    if (!ret && gpu->chip)
        state.away = nvdebug_modes_read(gpu, &gpu->modes);
    if (!ret && state.away)
        nvdebug_probe_reset(gpu, state.away);
    else if (!ret)
        ret = nvdebug_probe_features(gpu);
    state.probed = state.core.record.take();
    if (state.core.trouble)
        return tl::unexpected(*state.core.trouble);
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
    nvdebug_gpu_init(&state->core.gpu);
    state->attachment = std::move(attachment);
    state->closed = why;
    state->away = state->closed.c_str();
    nvdebug_probe_reset(&state->core.gpu, state->away);
    return std::unique_ptr<Machine>(new Machine(std::move(state)));
}

std::vector<Machine::Name> Machine::files() const {
    nvdebug_gpu *const gpu = &state_->core.gpu;
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
    if (state.core.trouble && ret != -ENOENT)
        return *state.core.trouble;
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
    nvdebug_info_show(&m, &state.core.gpu, &attachment);
    return text_of(m);
}

Result<std::string> show(Machine::State &state, const nvdebug_view &view, u32 number) {
    nvdebug_snapshot *snapshot;
    {
        const int ret = nvdebug_gpu_begin(&state.core.gpu);
        if (ret)
            return tl::unexpected(error_of(state, ret));
        const Access access(state);
        snapshot = view.take(&state.core.gpu, number);
    }
    if (IS_ERR(snapshot))
        return tl::unexpected(error_of(state, static_cast<int>(PTR_ERR(snapshot))));
    seq_file m{};
    for (std::size_t record = 0; record < snapshot->records; record++)
        view.show(&m, &state.core.gpu, snapshot, record);
    view.free(snapshot);
    return text_of(m);
}

Result<std::string> show_brief_engines(Machine::State &state) {
    if (state.away || state.core.gpu.missing[NVDEBUG_FEATURE_ENGINES])
        return tl::unexpected(Error{ErrorCode::not_found, ENOENT, "", ""});
    auto text = show(state, nvdebug_engines_brief_view, 0);
    // The view shows a register that does not answer as unreadable. Through a driver, the reason
    // may be that no register can be read.
    if (text && state.core.trouble)
        return tl::unexpected(*state.core.trouble);
    return text;
}

} // namespace

Result<std::string> Machine::read(std::string_view file) {
    const std::scoped_lock held(state_->lock);
    state_->core.forget();
    if (file == "info")
        return info(*state_);
    if (file == brief_engines)
        return show_brief_engines(*state_);
    ReadAhead::Plan &plan = state_->plans[std::string(file)];
    state_->core.ahead.begin(std::move(plan));
    Result<std::string> text = tl::unexpected(Error{ErrorCode::not_found, ENOENT, "", ""});
    if (!state_->away)
        each_view(&state_->core.gpu,
                  [&](const std::string &name, const nvdebug_view *view, u32 number) {
                      if (name == file)
                          text = show(*state_, *view, number);
                      return name == file;
                  });
    plan = state_->core.ahead.end();
    return text;
}

Result<std::string> Machine::translate(const std::string &request) {
    const std::scoped_lock held(state_->lock);
    state_->core.forget();
    if (state_->away || state_->core.gpu.missing[NVDEBUG_FEATURE_CONTEXTS])
        return tl::unexpected(Error{ErrorCode::not_found, ENOENT, "", ""});
    if (request.size() > nvdebug_translate_control.text_max)
        return tl::unexpected(Error{ErrorCode::invalid, E2BIG, "", ""});
    std::array<char, 4096> text{};
    seq_buf answer;
    seq_buf_init(&answer, text.data(), text.size());
    int ret = nvdebug_translate_control.act(&state_->core.gpu, request.c_str(), request.size(),
                                            &answer, nullptr);
    if (!ret && seq_buf_has_overflowed(&answer))
        ret = -EFBIG;
    if (ret)
        return tl::unexpected(error_of(*state_, ret));
    return std::string(text.data(), seq_buf_used(&answer));
}

std::string Machine::take_record() {
    const std::scoped_lock held(state_->lock);
    return state_->core.record.take();
}

const std::string &Machine::probe_record() const {
    return state_->probed;
}

} // namespace nvdebug::driver
