// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file libnvtaskset.so: CUDA loads it into each process that calls cuInit() while
/// CUDA_INJECTION64_PATH names it. It writes the partition's mask into the descriptor of each
/// launch, makes launches fail that could never end in the partition, and limits launches in
/// flight.
#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <new>
#include <optional>
#include <string_view>
#include <unistd.h>
#include <utility>

#include "cooperative.hpp"
#include "descriptor.hpp"
#include "graphs.hpp"
#include "hooks.hpp"
#include "in_flight.hpp"
#include "launch_log.hpp"
#include "lib/partition/gate.hpp"
#include "lib/partition/page.hpp"
#include "lib/partition/parse.hpp"
#include "lib/partition/variables.hpp"
#include "table.hpp"
#include "view.hpp"

namespace nvtaskset {
namespace {

constexpr int gpus_max = InFlight::devices_max;
/// The exit status of a process that cannot be kept to its partition; timeout(1) has the same.
constexpr int failed_status = 125;

struct Thread {
    std::array<View, gpus_max> views;
    /// The thread is in a call of CUDA by this library.
    bool is_internal = false;
    /// The thread is in a call that was checked against the views, which stay as they are until it
    /// returns.
    bool pinned = false;
    /// The thread is in the launch of a graph that must not be kept to a partition.
    bool free = false;
    /// The thread is in a launch that ignores leased masks: for a cooperative launch the mask might
    /// be too small, and a graph would have to be built again after each change.
    bool unleased = false;
    InFlight::Launch launch; ///< the launch between enter() and leave()
};

constinit thread_local Thread thread;

/// Marks calls of CUDA in its lifetime as the library's own, so that callbacks ignore them.
class InternalCall {
  public:
    InternalCall() : before_(std::exchange(thread.is_internal, true)) {}
    ~InternalCall() { thread.is_internal = before_; }
    InternalCall(const InternalCall &) = delete;
    InternalCall &operator=(const InternalCall &) = delete;

  private:
    bool before_;
};

struct Gpu {
    Uuid uuid;
    int major;
};

[[noreturn]] void fail_hard() {
    std::fprintf(stderr, "nvtaskset: it was ended; --best-effort lets such processes go on\n");
    std::_Exit(failed_status);
}

/// Returns true if a process that cannot be kept to its partition has to end: the task was started
/// with a partition, and without best effort.
bool is_strict() {
    return variable(partitions_variable) && !is_on(best_effort_variable);
}

class Injection {
  public:
    Injection(cuda::Library cuda, Page page)
        : cuda_(cuda), page_(std::move(page)), strict_(is_strict()),
          whole_count_(is_on(whole_count_variable)), graphs_(cuda_),
          get_device_(cuda_.find<int *>("cuCtxGetDevice")),
          get_current_(cuda_.find<cuda::Handle *>("cuCtxGetCurrent")), in_flight_(cuda_) {}

    /// Subscribes to CUDA's callbacks. Returns nullptr, or the reason for which that failed.
    const char *attach();
    /// Begins to note launches in a folder.
    void log_to(const char *folder) { log_ = LaunchLog::start(cuda_, folder); }
    State &state() const { return *page_.writable(); }
    bool limits() const { return limits_; }

    void launch(const hooks::Launch &launch);
    void before(const hooks::Api &call);
    void after(const hooks::Api &call);

  private:
    /// Returns the view of the current context's GPU, or nullptr if there is no context.
    const View *view();
    const View *view_in(cuda::Handle context);
    const View *view_of(int device);
    std::optional<Gpu> gpu(int device);
    void count_unkept(std::atomic<std::uint64_t> &counter, const char *why, bool ends);
    void lose();
    void refuse(const hooks::Api &call, const View &view, int result);
    void enter(cuda::Handle stream, bool per_thread);
    void waited();
    void before_launch_ex(const hooks::Api &call);
    void before_graph(const hooks::Api &call);
    /// Checks a cooperative launch. Returns false if it is refused.
    bool cooperative(const hooks::Api &call, cuda::Handle function, const unsigned (&grid)[3],
                     const unsigned (&block)[3], unsigned shared_bytes, std::uint64_t in_cluster);

    cuda::Library cuda_;
    Page page_;
    const bool strict_, whole_count_;
    Graphs graphs_;
    // These functions are called at each launch.
    int (*const get_device_)(int *device);
    int (*const get_current_)(cuda::Handle *context);
    InFlight in_flight_;
    LaunchLog *log_ = nullptr;                        ///< nullptr: launches are not noted
    bool limits_ = false;                             ///< launches in flight can be limited
    std::array<std::atomic<int>, gpus_max> majors_{}; ///< 0: not known yet
    std::array<Uuid, gpus_max> uuids_{};
    Mutex gpus_;
};

Injection *injection;

void callback(void *, int domain, int id, const void *params) {
    if (thread.is_internal || !injection)
        return;
    const int error = errno;
    if (domain == hooks::domain_launch && id == hooks::launch) {
        injection->launch(*static_cast<const hooks::Launch *>(params));
    } else if (domain == hooks::domain_api) {
        const auto &call = *static_cast<const hooks::Api *>(params);
        if (call.after)
            injection->after(call);
        else
            injection->before(call);
    }
    errno = error;
}

const char *Injection::attach() {
    const void *table = nullptr;
    if (cuda_.call("cuGetExportTable", &table, static_cast<const void *>(hooks::table_id)) ||
        !table)
        return "this CUDA has no callbacks for launches (cuGetExportTable)";
    const auto &entries = *static_cast<const hooks::Table *>(table);
    if (entries.bytes < sizeof(entries))
        return "this CUDA's table of callbacks is another one";
    void *subscriber = nullptr;
    const int result = entries.subscribe(&subscriber, callback, nullptr);
    if (result == hooks::already_subscribed)
        return "another library of the process has CUDA's callbacks (a profiler?)";
    if (result)
        return "CUDA refuses callbacks";
    if (entries.enable(1, subscriber, hooks::domain_launch, hooks::launch))
        return "CUDA refuses the callback of launches";
    for (const int id :
         {hooks::device_get_attribute, hooks::launch_cooperative, hooks::launch_cooperative_ptsz,
          hooks::launch_ex, hooks::launch_ex_ptsz, hooks::graph_instantiate,
          hooks::graph_instantiate_v2, hooks::graph_instantiate_with_flags,
          hooks::graph_instantiate_with_params, hooks::graph_instantiate_with_params_ptsz,
          hooks::graph_launch, hooks::graph_launch_ptsz, hooks::graph_upload,
          hooks::graph_upload_ptsz, hooks::graph_exec_destroy, hooks::graph_exec_update,
          hooks::graph_exec_update_v2})
        if (entries.enable(1, subscriber, hooks::domain_api, id))
            return "CUDA refuses the callback of a function";
    // Errors are ignored below, because a CUDA that lacks a function does not call it either.
    for (const int id : {hooks::ctx_destroy, hooks::module_unload, hooks::library_unload})
        entries.enable(1, subscriber, hooks::domain_api, id);
    for (const int id : hooks::graph_exec_changes)
        entries.enable(1, subscriber, hooks::domain_api, id);
    limits_ = in_flight_.usable();
    for (const int id : {hooks::launch_kernel, hooks::launch_kernel_ptsz})
        limits_ = !entries.enable(1, subscriber, hooks::domain_api, id) && limits_;
    for (const int id : hooks::waits)
        entries.enable(1, subscriber, hooks::domain_api, id);
    for (const int id : hooks::primary_ends)
        entries.enable(1, subscriber, hooks::domain_api, id);
    return nullptr;
}

std::optional<Gpu> Injection::gpu(int device) {
    const auto at = static_cast<std::size_t>(device);
    if (!majors_[at]) {
        const std::lock_guard lock(gpus_);
        int major = 0;
        if (cuda_.call("cuDeviceGetUuid_v2", uuids_[at].data(), device) ||
            cuda_.call("cuDeviceGetAttribute", &major, cuda::major_capability, device))
            return std::nullopt;
        majors_[at] = major;
    }
    return Gpu{uuids_[at], majors_[at]};
}

const View *Injection::view_of(int device) {
    if (device < 0 || device >= gpus_max)
        return nullptr;
    View &view = thread.views[static_cast<std::size_t>(device)];
    const std::uint32_t generation = state().generation;
    if (view.known && (thread.pinned || view.generation == generation)) {
        take_lease(view, state());
        return &view;
    }
    const InternalCall internal;
    const auto known = gpu(device);
    if (!known)
        return nullptr;
    const Slot *slot = page_.find(known->uuid);
    const auto setting = slot ? read_setting(*slot) : Setting{};
    if (!setting)
        return nullptr;
    // A launch on a partition without TPCs would never end. nvtaskset does not set such a
    // partition.
    const bool usable = setting->use == Use::partition &&
                        any(left(setting->partition.exists, setting->partition.disabled));
    const bool outside = !usable && setting->use != Use::whole && has_partition(state());
    view = {true,    generation,         usable,
            outside, setting->partition, slot || outside ? page_.take(known->uuid) : nullptr};
    take_lease(view, state());
    return &view;
}

const View *Injection::view() {
    const InternalCall internal;
    int device = 0;
    return !get_device_ || get_device_(&device) ? nullptr : view_of(device);
}

const View *Injection::view_in(cuda::Handle context) {
    const InternalCall internal;
    cuda::Handle current = nullptr;
    if (!get_current_ || get_current_(&current) || current == context ||
        cuda_.call("cuCtxSetCurrent", context))
        return view();
    const View *const found = view();
    cuda_.call("cuCtxSetCurrent", current);
    return found;
}

/// Counts a launch that is not kept to the partition, and warns once for the task.
/// @param ends the process ends, unless best effort was asked for
void Injection::count_unkept(std::atomic<std::uint64_t> &counter, const char *why, bool ends) {
    counter++;
    const bool ending = ends && strict_;
    if (!state().warned.exchange(1) || ending)
        std::fprintf(stderr, "nvtaskset: process %d: %s; 'nvtaskset -p %d' counts them\n", getpid(),
                     why, getpid());
    if (ending)
        fail_hard();
}

/// Counts a launch on a GPU that cannot be identified.
void Injection::lose() {
    if (has_partition(state()))
        count_unkept(state().lost,
                     "launches on a GPU that cannot be identified are not kept to a partition",
                     true);
}

void Injection::launch(const hooks::Launch &launch) {
    // A task that was only prepared has generation 0.
    if (!state().generation)
        return;
    const View *const view = view_in(launch.context);
    if (!view)
        return lose();
    if (view->outside)
        count_unkept(view->slot ? view->slot->counts.outside : state().lost,
                     "launches on a GPU for which no partition was asked are not kept to one (-i "
                     "names GPUs)",
                     true);
    const int major = majors_[static_cast<std::size_t>(view - thread.views.data())];
    const Layout *const layout = layout_of(major, launch.descriptor);
    const bool kept = view->kept && !thread.free;
    if (!layout) {
        if (kept)
            count_unkept(view->slot->counts.unknown,
                         "launches of an unknown kind are not kept to the partition", false);
        return;
    }
    const auto blocks = cluster_blocks(*layout, launch.descriptor);
    const bool fits = blocks <= view->partition.largest_gpc;
    const bool leased = view->lease && !thread.unleased && !thread.free &&
                        blocks <= view->lease->largest_gpc && (fits || !kept);
    if (kept && fits)
        view->slot->counts.kept++;
    if (leased || (kept && fits))
        return set_disabled(*layout, launch.descriptor,
                            leased ? view->lease->disabled : view->partition.disabled);
    // A descriptor of a graph that is built again has its previous mask (measured), which must go.
    // The mask can only be this library's, as CUDA makes no green contexts beside its callbacks
    // (measured).
    clear_disabled(*layout, launch.descriptor);
    if (kept)
        count_unkept(view->slot->counts.cluster,
                     "launches with clusters larger than the partition's GPCs are not kept to it",
                     false);
    else if (view->kept)
        count_unkept(view->slot->counts.unknown,
                     "launches of CUDA graphs that cannot be checked are not kept to the partition",
                     false);
}

void Injection::refuse(const hooks::Api &call, const View &view, int result) {
    if (view.slot)
        view.slot->counts.refused++;
    *call.result = result;
    *call.skip = 1;
}

bool Injection::cooperative(const hooks::Api &call, cuda::Handle function,
                            const unsigned (&grid)[3], const unsigned (&block)[3],
                            unsigned shared_bytes, std::uint64_t in_cluster) {
    thread.unleased = true;
    const View *const view = this->view();
    if (!view || !view->kept)
        return true;
    const InternalCall internal;
    if (fits(cuda_, function, grid, block, shared_bytes, in_cluster, room_of(view->partition))) {
        // The view must not change until the descriptor has the mask.
        thread.pinned = true;
        return true;
    }
    refuse(call, *view, cuda::cooperative_launch_too_large);
    return false;
}

/// Waits before a launch if too many launches are in flight.
void Injection::enter(cuda::Handle stream, bool per_thread) {
    // CUDA may make a launch by calling another of its functions, which counts as one launch.
    if (!state().has_limits || !limits_ || thread.launch.gate)
        return;
    const View *const view = this->view();
    if (!view || !view->slot)
        return;
    const InternalCall internal;
    const auto slot = view->slot - state().slots;
    const int device = static_cast<int>(view - thread.views.data());
    if (per_thread && !stream)
        stream = cuda::stream_per_thread;
    thread.launch = in_flight_.enter(state().gates[slot], state().work[slot], device, stream);
}

/// Notes that the program has waited for its launches.
void Injection::waited() {
    if (!in_flight_.may_end())
        return;
    const View *const view = this->view();
    if (!view || !view->slot)
        return;
    const auto slot = view->slot - state().slots;
    in_flight_.ended(state().gates[slot], state().work[slot],
                     static_cast<int>(view - thread.views.data()));
}

void Injection::before_launch_ex(const hooks::Api &call) {
    const auto &[config, function] = *static_cast<const hooks::ExArguments *>(call.arguments);
    bool is_cooperative = false;
    std::uint64_t in_cluster = 1;
    for (unsigned n = 0; config && config->attributes && n < config->attribute_count; n++) {
        const cuda::LaunchAttribute &attribute = config->attributes[n];
        if (attribute.id == cuda::launch_cooperative)
            is_cooperative = attribute.words[0];
        else if (attribute.id == cuda::launch_cluster)
            in_cluster = cuda::blocks_of(attribute);
    }
    const bool is_made = !is_cooperative || cooperative(call, function, config->grid, config->block,
                                                        config->shared_bytes, in_cluster);
    if (config && is_made)
        enter(config->stream, call.id == hooks::launch_ex_ptsz);
}

void Injection::before_graph(const hooks::Api &call) {
    const auto &made = *static_cast<const hooks::GraphLaunchArguments *>(call.arguments);
    const cuda::Handle context = graphs_.context_of(made.exec);
    const View *const view = context ? view_in(context) : this->view();
    // A graph on an unknown GPU is not limited, either.
    if (!view)
        return;
    const InternalCall internal;
    // Generations of graphs are one higher, as 0 is a graph that has not been launched.
    const Room room = room_of(view->partition);
    const auto [result, kept] =
        graphs_.prepare(made.exec, view->generation + 1, view->kept ? &room : nullptr,
                        view->slot ? &view->slot->counts : nullptr);
    if (result)
        return refuse(call, *view, result);
    thread.pinned = thread.unleased = true;
    thread.free = !kept;
    if (call.id == hooks::graph_launch || call.id == hooks::graph_launch_ptsz)
        enter(made.stream, call.id == hooks::graph_launch_ptsz);
}

void Injection::before(const hooks::Api &call) {
    if (log_)
        log_->before(call);
    switch (call.id) {
    case hooks::launch_kernel:
    case hooks::launch_kernel_ptsz:
        return enter(static_cast<const hooks::KernelArguments *>(call.arguments)->stream,
                     call.id == hooks::launch_kernel_ptsz);
    case hooks::launch_cooperative:
    case hooks::launch_cooperative_ptsz: {
        const auto &made = *static_cast<const hooks::KernelArguments *>(call.arguments);
        if (cooperative(call, made.function, made.grid, made.block, made.shared_bytes, 1))
            enter(made.stream, call.id == hooks::launch_cooperative_ptsz);
        return;
    }
    case hooks::launch_ex:
    case hooks::launch_ex_ptsz:
        return before_launch_ex(call);
    case hooks::graph_launch:
    case hooks::graph_launch_ptsz:
    case hooks::graph_upload:
    case hooks::graph_upload_ptsz:
        return before_graph(call);
    case hooks::ctx_destroy: {
        const InternalCall internal;
        const auto context = *static_cast<const cuda::Handle *>(call.arguments);
        in_flight_.end_context(context);
        return graphs_.end_context(context);
    }
    case hooks::primary_release:
    case hooks::primary_release_v2:
    case hooks::primary_reset:
    case hooks::primary_reset_v2:
        return in_flight_.end_contexts_of(*static_cast<const int *>(call.arguments));
    case hooks::graph_exec_destroy:
        return graphs_.remove(*static_cast<const cuda::Handle *>(call.arguments));
    default:
        return;
    }
}

void Injection::after(const hooks::Api &call) {
    thread.pinned = thread.free = thread.unleased = false;
    const InternalCall internal;
    if (const InFlight::Launch launch = std::exchange(thread.launch, {}); launch.gate)
        in_flight_.leave(launch, *call.result == cuda::success);
    if (log_)
        log_->after(call);
    if (*call.result != cuda::success)
        return;
    switch (call.id) {
    case hooks::device_get_attribute: {
        const auto &[value, attribute, device] =
            *static_cast<const hooks::AttributeArguments *>(call.arguments);
        const bool is_count = attribute == cuda::sm_count && !whole_count_;
        const View *const view = is_count ? view_of(device) : nullptr;
        if (view && view->kept)
            *value = static_cast<int>(view->partition.sms);
        return;
    }
    case hooks::graph_instantiate:
    case hooks::graph_instantiate_v2:
    case hooks::graph_instantiate_with_flags:
    case hooks::graph_instantiate_with_params:
    case hooks::graph_instantiate_with_params_ptsz: {
        const auto &[exec, graph] =
            *static_cast<const hooks::InstantiateArguments *>(call.arguments);
        cuda::Handle context = nullptr;
        if (get_current_ && get_current_(&context))
            context = nullptr;
        return graphs_.add(*exec, graph, context);
    }
    case hooks::graph_exec_update:
    case hooks::graph_exec_update_v2: {
        const auto &[exec, graph] = *static_cast<const hooks::UpdateArguments *>(call.arguments);
        return graphs_.update(exec, graph);
    }
    default:
        if (std::ranges::count(hooks::graph_exec_changes, static_cast<int>(call.id)))
            graphs_.changed(*static_cast<const cuda::Handle *>(call.arguments));
        else if (std::ranges::count(hooks::waits, static_cast<int>(call.id)))
            waited();
    }
}

/// Returns the page of the task: the inherited descriptor, or the descriptor of the process that
/// page_variable names.
std::optional<Page> find_page() {
    const char *const named = variable(page_variable);
    const auto name = named ? parse_page_name(named) : std::nullopt;
    if (!name)
        return std::nullopt;
    if (auto page = Page::open(name->descriptor, Access::join);
        page && page->inode() == name->inode)
        return page;
    if (auto page = Page::of_process(name->pid, name->descriptor, Access::look);
        !page || page->inode() != name->inode)
        return std::nullopt;
    // This descriptor stays open, so that other processes find the page by it.
    auto page = Page::of_process(name->pid, name->descriptor, Access::join);
    return page && page->inode() == name->inode ? std::move(page) : std::nullopt;
}

/// Makes a page for this process alone, with the partitions of the environment.
std::optional<Page> make_page() {
    auto page = Page::make();
    // make() fails under a limit for the size of files (ulimit -f). Then the partition holds, but
    // no tool finds the page.
    if (!page)
        page = Page::make_unshared();
    const char *const named = variable(partitions_variable);
    std::string_view rest = named ? named : "";
    while (page && !rest.empty()) {
        const auto partition = parse_partition(take_until(rest, ';'));
        if (!partition || !page->set(*partition))
            return std::nullopt;
    }
    return page;
}

void fail(const char *why) {
    std::fprintf(stderr, "nvtaskset: process %d is not kept to its partition: %s\n", getpid(), why);
    if (!is_on(best_effort_variable))
        fail_hard();
}

/// The memory of the Injection, which lives as long as the process, as CUDA may call until the end.
alignas(Injection) std::byte place[sizeof(Injection)];

} // namespace
} // namespace nvtaskset

extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
    using namespace nvtaskset;
    if (injection)
        return 1;
    auto page = find_page();
    if (!page)
        page = make_page();
    if (!page) {
        if (variable(page_variable) || variable(partitions_variable))
            fail("its partition is not known");
        return 0;
    }
    auto *const made = new (place) Injection(cuda::Library(), std::move(*page));
    const char *const folder = variable(kernels_variable);
    if (const char *const why = made->attach()) {
        made->state().failed++;
        if (has_partition(made->state()))
            fail(why);
        if (folder)
            std::fprintf(stderr, "nvtaskset: process %d: its launches are not noted: %s\n",
                         getpid(), why);
        // CUDA may have the callback already, so the library stays loaded and ignores its calls.
        made->~Injection();
        return 0;
    }
    made->state().attached++;
    if (made->limits()) {
        made->state().limiting++;
        made->state().pacing++;
    }
    if (folder)
        made->log_to(folder);
    injection = made;
    return 1;
}
