// SPDX-License-Identifier: MIT OR GPL-2.0
// A stand-in for libcuda: there is no GPU; it answers as CUDA 13.0 of driver 580.159.04 was
// measured to do, as far as that is known, and a launch is over when it returns.
//
// Of the environment: STAND_IN_GPUS, STAND_IN_LIES (`deaf:BIT`, `swap:BIT:BIT`; gpu.cpp),
// STAND_IN_LOG.
#include "api.hpp"
#include "callback.hpp"
#include "gpu.hpp"
#include "log.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <unistd.h>

using stand_in::Gpu;
using stand_in::Launch;

struct CUctx {
    const Gpu *gpu;
    cuda::Device device;
    unsigned number;
    char of_driver[16]; // what descriptors are said to belong to: not what programs know it by
};
struct CUfunc {
    CUmod *module;
    std::string name;
    std::vector<std::size_t> params; // bytes of each
};
struct CUmod {
    CUctx *context;
    std::string ptx; // empty: machine code, which is not read
    std::map<std::string, CUfunc> functions;
};
struct CUstream_ {
    CUctx *context;
};

namespace {

/// A kernel with its arguments.
struct Work {
    CUfunc *function = nullptr; // none: an empty node
    Launch launch;
    std::vector<std::vector<unsigned char>> arguments;
    bool operator==(const Work &) const = default;
};

} // namespace

struct CUgraphNode_ {
    CUgraph_ *graph;
    CUgraphNode_ *original; // of a clone's node
    Work work;
    std::map<int, std::string> attributes;
    std::vector<void *> pointers; // to the arguments, for who asks
};
struct CUgraph_ {
    std::vector<std::unique_ptr<CUgraphNode_>> nodes;
};
struct CUgraphExec_ {
    struct Step {
        CUgraphNode_ *node; // that it was made from; it may be gone
        Work work;
        std::map<int, std::string> attributes;
        std::optional<stand_in::Descriptor> descriptor; // once it was launched
    };
    std::vector<Step> steps;
};

namespace {

/// Handles that are valid.
template <typename T>
class Live {
  public:
    T *add(T object) {
        auto owned = std::make_unique<T>(std::move(object));
        T *const handle = owned.get();
        all_[handle] = std::move(owned);
        return handle;
    }
    bool has(const T *handle) const { return all_.contains(handle); }
    bool remove(const T *handle) { return all_.erase(handle); }
    void remove_if(auto condition) {
        std::erase_if(all_, [&](const auto &each) { return condition(*each.second); });
    }
    bool any(auto condition) const {
        for (const auto &each : all_)
            if (condition(*each.second))
                return true;
        return false;
    }

  private:
    std::map<const T *, std::unique_ptr<T>> all_;
};

struct Driver {
    std::mutex lock; // not held while somebody is called back
    pid_t process = 0;
    std::vector<Gpu> gpus;
    unsigned contexts_made = 0;
    Live<CUctx> contexts;
    Live<CUmod> modules;
    Live<CUstream_> streams;
    Live<CUgraph_> graphs;
    Live<CUgraphExec_> execs;
    struct Primary {
        CUctx *context = nullptr;
        unsigned users = 0;
    };
    std::map<cuda::Device, Primary> primary;
    std::map<cuda::DevicePointer, std::vector<unsigned char>> memory;
};

/// Never destroyed, as threads may still launch while the process ends.
Driver &driver() {
    static Driver &only = *new Driver;
    return only;
}

thread_local CUctx *current_context = nullptr;

using Lock = std::unique_lock<std::mutex>;

/// Does it if this process has initialised the driver; a child of one that has, has not.
template <typename Body>
cuda::Result locked(Body body) {
    Lock lock(driver().lock);
    if (driver().process != getpid())
        return cuda::not_initialized;
    return body(lock);
}

template <typename Body>
cuda::Result in_context(Body body) {
    return locked([&](Lock &lock) {
        if (!driver().contexts.has(current_context))
            return cuda::invalid_context;
        return body(*current_context, lock);
    });
}

template <typename Body>
cuda::Result on_device(cuda::Device device, const void *answer, Body body) {
    return locked([&](Lock &) {
        if (device < 0 || static_cast<std::size_t>(device) >= driver().gpus.size())
            return cuda::invalid_device;
        return answer ? body(driver().gpus[device]) : cuda::invalid_value;
    });
}

CUctx *make_context(cuda::Device device) {
    return driver().contexts.add({&driver().gpus[device], device, ++driver().contexts_made, {}});
}

void end_context(CUctx *context) {
    driver().modules.remove_if([&](const CUmod &each) { return each.context == context; });
    driver().streams.remove_if([&](const CUstream_ &each) { return each.context == context; });
    driver().contexts.remove(context);
}

CUmod *module_of(const CUfunc *function) {
    CUmod *found = nullptr;
    driver().modules.any([&](CUmod &module) {
        for (auto &[name, each] : module.functions)
            if (&each == function)
                found = &module;
        return found != nullptr;
    });
    return found;
}

bool has_stream(cuda::Stream stream, const CUctx &context) {
    return reinterpret_cast<std::uintptr_t>(stream) <= 2 || // default ones
           (driver().streams.has(stream) && stream->context == &context);
}

CUgraphNode_ *node_of(cuda::Node node) {
    return driver().graphs.any([&](const CUgraph_ &graph) {
        for (const auto &each : graph.nodes)
            if (each.get() == node)
                return true;
        return false;
    })
               ? node
               : nullptr;
}

/// The bytes that are allocated there, or none.
unsigned char *memory_at(cuda::DevicePointer address, std::size_t bytes) {
    auto found = driver().memory.upper_bound(address);
    if (found == driver().memory.begin())
        return nullptr;
    auto &[begin, content] = *--found;
    const std::uint64_t offset = address - begin;
    return offset <= content.size() && bytes <= content.size() - offset ? content.data() + offset
                                                                        : nullptr;
}

// --- launches ---

/// As the driver does, which counts with the whole GPU.
cuda::Result check(const Gpu &gpu, const Launch &launch) {
    const unsigned in_cluster = launch.cluster_blocks();
    if (!launch.blocks() || !launch.threads() || launch.threads() > 1024 ||
        !gpu.blocks_per_sm(launch.threads(), launch.shared_bytes))
        return cuda::invalid_value;
    if (launch.cooperative &&
        launch.blocks() >
            std::uint64_t{gpu.sms()} * gpu.blocks_per_sm(launch.threads(), launch.shared_bytes))
        return cuda::too_large;
    if (!in_cluster)
        return cuda::invalid_value;
    if (in_cluster > 1 && (gpu.major < 9 || in_cluster > 8))
        return cuda::invalid_cluster_size;
    for (unsigned i = 0; i < 3; i++)
        if (launch.grid[i] % launch.cluster[i])
            return cuda::invalid_value;
    return cuda::success;
}

template <typename T>
T value_of(const std::vector<unsigned char> &bytes) {
    T value = 0;
    std::memcpy(&value, bytes.data(), std::min(bytes.size(), sizeof(value)));
    return value;
}

std::string ranges(const std::vector<unsigned> &numbers) {
    std::string text;
    for (std::size_t first = 0, last; first < numbers.size(); first = last + 1) {
        for (last = first; last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1;)
            last++;
        text += (text.empty() ? "" : ",") + std::to_string(numbers[first]);
        if (last != first)
            text += "-" + std::to_string(numbers[last]);
    }
    return text.empty() ? "-" : text;
}

std::string hex(const stand_in::Mask &mask) {
    std::string text;
    for (std::size_t bit = 0; bit < mask.size() || text.empty(); bit += 4)
        text.insert(text.begin(), "0123456789abcdef"[(mask[bit + 3] << 3) | (mask[bit + 2] << 2) |
                                                     (mask[bit + 1] << 1) | mask[bit]]);
    text.erase(0, std::min(text.find_first_not_of('0'), text.size() - 1));
    return text;
}

/// What a subscriber makes of it. It may use the driver meanwhile.
stand_in::Descriptor descriptor_for(const Work &work, Lock &lock) {
    CUctx &context = *work.function->module->context;
    stand_in::Descriptor plain;
    plain.build(*context.gpu->layout, work.launch.grid, work.launch.block, work.launch.cluster);
    stand_in::Descriptor descriptor = plain;
    lock.unlock();
    stand_in::call_back_for_launch(context.of_driver, descriptor.words());
    lock.lock();
    if (!descriptor.same_but_mask(*context.gpu->layout, plain))
        stand_in::die("WRONG something else than the mask was changed in a descriptor");
    return descriptor;
}

void run(const Work &work, const stand_in::Descriptor &descriptor, const char *how) {
    const CUctx &context = *work.function->module->context;
    const auto mask = descriptor.disabled(*context.gpu->layout);
    std::string why;
    const auto sms = context.gpu->run(work.launch, mask, why);
    const std::string line =
        std::string(how) + " pid=" + std::to_string(getpid()) +
        " gpu=" + std::to_string(context.device) + " context=" + std::to_string(context.number) +
        " kernel=" + work.function->name + " blocks=" + std::to_string(work.launch.blocks()) +
        " count=" + std::to_string(sms.size()) + " sms=" + ranges(sms) + " mask=" + hex(mask);
    if (!why.empty())
        stand_in::die("HANG " + line + ": " + why);
    stand_in::log(line);
    if (work.function->name != "where" || work.arguments.empty())
        return;
    const auto array = value_of<cuda::DevicePointer>(work.arguments[0]);
    for (const unsigned sm : sms)
        if (unsigned char *const at = memory_at(array + 4 * sm, 4)) {
            const std::uint32_t one = 1;
            std::memcpy(at, &one, sizeof(one));
        }
}

std::vector<std::vector<unsigned char>> arguments_of(const CUfunc &function, void **params) {
    std::vector<std::vector<unsigned char>> arguments;
    for (std::size_t i = 0; params && i < function.params.size(); i++) {
        const auto *const bytes = static_cast<const unsigned char *>(params[i]);
        arguments.emplace_back(bytes, bytes + function.params[i]);
    }
    return arguments;
}

/// Returns success and fills `work`, or why not.
cuda::Result work_of(Work &work, CUctx &context, cuda::Function function, Launch launch,
                     void **params) {
    const CUmod *const module = module_of(function);
    if (!module || module->context != &context)
        return cuda::invalid_handle;
    if (!params && !function->params.empty())
        return cuda::invalid_value;
    work = {function, std::move(launch), arguments_of(*function, params)};
    return check(*context.gpu, work.launch);
}

cuda::Result launch_now(cuda::Function function, const Launch &launch, cuda::Stream stream,
                        void **params) {
    return in_context([&](CUctx &context, Lock &lock) {
        Work work;
        if (!has_stream(stream, context))
            return cuda::invalid_handle;
        if (const auto error = work_of(work, context, function, launch, params))
            return error;
        run(work, descriptor_for(work, lock), "launch");
        return cuda::success;
    });
}

void apply(Launch &launch, int attribute, const cuda::AttributeValue &value) {
    if (attribute == cuda::Attribute::is_cooperative)
        launch.cooperative = value.cooperative;
    if (attribute == cuda::Attribute::cluster_dimension)
        launch.cluster = {value.cluster.x, value.cluster.y, value.cluster.z};
}

// --- graphs ---

/// For an executable graph, which has its own of everything.
cuda::Result steps_of(std::vector<CUgraphExec_::Step> &steps, const CUgraph_ &graph) {
    for (const auto &node : graph.nodes) {
        const Work &work = node->work;
        // When the real one checks that, nobody measured.
        if (work.function)
            if (const auto error = check(*work.function->module->context->gpu, work.launch))
                return error;
        steps.push_back({node.get(), work, node->attributes, std::nullopt});
    }
    return cuda::success;
}

cuda::Result instantiate(cuda::Exec *exec, cuda::Graph graph) {
    return in_context([&](CUctx &, Lock &) {
        if (!exec || !driver().graphs.has(graph))
            return cuda::invalid_value;
        CUgraphExec_ made;
        if (const auto error = steps_of(made.steps, *graph))
            return error;
        *exec = driver().execs.add(std::move(made));
        return cuda::success;
    });
}

/// Its descriptor is built anew at the next launch if something is another.
void change(CUgraphExec_::Step &step, const Work &work,
            const std::map<int, std::string> &attributes) {
    if (step.work == work && step.attributes == attributes)
        return;
    step.work = work;
    step.attributes = attributes;
    step.descriptor.reset();
}

cuda::Result update(cuda::Exec exec, cuda::Graph graph, cuda::UpdateResult *result) {
    return in_context([&](CUctx &, Lock &) {
        if (!driver().execs.has(exec) || !driver().graphs.has(graph) || !result)
            return cuda::invalid_value;
        *result = {};
        std::vector<CUgraphExec_::Step> steps;
        if (const auto error = steps_of(steps, *graph)) {
            result->result = 1;
            return error;
        }
        bool same = steps.size() == exec->steps.size();
        for (std::size_t i = 0; same && i < steps.size(); i++)
            same = !steps[i].work.function == !exec->steps[i].work.function;
        if (!same) {
            result->result = 2;
            return cuda::update_failure;
        }
        for (std::size_t i = 0; i < steps.size(); i++)
            change(exec->steps[i], steps[i].work, steps[i].attributes);
        return cuda::success;
    });
}

cuda::Result launch_graph(cuda::Exec exec, cuda::Stream stream) {
    return in_context([&](CUctx &context, Lock &lock) {
        if (!driver().execs.has(exec))
            return cuda::invalid_value;
        if (!has_stream(stream, context))
            return cuda::invalid_handle;
        for (auto &step : exec->steps) {
            if (!step.work.function)
                continue;
            if (!step.descriptor)
                step.descriptor = descriptor_for(step.work, lock);
            run(step.work, *step.descriptor, "graph");
        }
        return cuda::success;
    });
}

cuda::Result work_of(Work &work, const cuda::KernelNodeParams &params,
                     const std::map<int, std::string> &attributes) {
    Launch launch;
    for (unsigned i = 0; i < 3; i++) {
        launch.grid[i] = params.grid[i];
        launch.block[i] = params.block[i];
    }
    launch.shared_bytes = params.shared_bytes;
    for (const auto &[attribute, bytes] : attributes) {
        cuda::AttributeValue value;
        std::memcpy(&value, bytes.data(), sizeof(value));
        apply(launch, attribute, value);
    }
    const CUmod *const module = module_of(params.function);
    if (!module)
        return cuda::invalid_value;
    return work_of(work, *module->context, params.function, launch, params.params);
}

cuda::Node add_node(CUgraph_ &graph, Work work) {
    graph.nodes.push_back(
        std::make_unique<CUgraphNode_>(CUgraphNode_{&graph, nullptr, std::move(work), {}, {}}));
    return graph.nodes.back().get();
}

template <typename Body>
cuda::Result of_kernel_node(cuda::Node node, const void *argument, Body body) {
    return locked([&](Lock &) {
        CUgraphNode_ *const found = node_of(node);
        return found && found->work.function && argument ? body(*found) : cuda::invalid_value;
    });
}

// --- modules ---

/// Bytes of each parameter of a kernel in PTX; none if there is no such kernel.
std::optional<std::vector<std::size_t>> params_in(const std::string &ptx, const std::string &name) {
    for (std::size_t at = ptx.find(".entry"); at != std::string::npos;
         at = ptx.find(".entry", at + 1)) {
        const std::size_t begin = ptx.find_first_not_of(" \t\r\n", at + 6);
        const std::size_t end = ptx.find_first_of(" \t\r\n({", begin);
        if (end == std::string::npos || ptx.substr(begin, end - begin) != name)
            continue;
        std::vector<std::size_t> params;
        const std::size_t open = ptx.find_first_not_of(" \t\r\n", end);
        const std::string list =
            ptx[open] == '(' ? ptx.substr(open, ptx.find(')', open) - open) : "";
        for (std::size_t param = list.find(".param"); param != std::string::npos;
             param = list.find(".param", param + 1)) {
            const std::size_t type = list.find('.', param + 1);
            params.push_back(list.find("64", type) == type + 2 ? 8 : 4);
        }
        return params;
    }
    return std::nullopt;
}

cuda::Result load(cuda::Module *module, const void *image) {
    return in_context([&](CUctx &context, Lock &) {
        if (!module || !image)
            return cuda::invalid_value;
        const bool machine_code = !std::memcmp(image,
                                               "\x7f"
                                               "ELF",
                                               4) ||
                                  !std::memcmp(image, "\x50\xed\x55\xba", 4);
        const std::string ptx = machine_code ? "" : static_cast<const char *>(image);
        if (!machine_code && ptx.find(".version") == std::string::npos)
            return cuda::invalid_image;
        *module = driver().modules.add({&context, ptx, {}});
        return cuda::success;
    });
}

// --- the start ---

/// As the driver does: what cannot be loaded is not spoken of.
void inject() {
    const char *const path = std::getenv("CUDA_INJECTION64_PATH");
    void *const library = path ? dlopen(path, RTLD_NOW) : nullptr;
    void *const start = library ? dlsym(library, "InitializeInjection") : nullptr;
    if (start)
        reinterpret_cast<int (*)()>(start)();
}

constexpr struct {
    cuda::Result error;
    const char *name, *text;
} errors[] = {
    {cuda::success, "CUDA_SUCCESS", "no error"},
    {cuda::invalid_value, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {cuda::not_initialized, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {cuda::no_device, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {cuda::invalid_device, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {cuda::invalid_image, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {cuda::invalid_context, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {cuda::already_acquired, "CUDA_ERROR_ALREADY_ACQUIRED", "resource already acquired"},
    {cuda::invalid_handle, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {cuda::not_found, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {cuda::too_large, "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE",
     "too many blocks in cooperative launch"},
    {cuda::not_supported, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
    {cuda::update_failure, "CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE",
     "the graph update was not performed because it included changes which violated constraints "
     "specific to instantiated graph update"},
    {cuda::invalid_cluster_size, "CUDA_ERROR_INVALID_CLUSTER_SIZE", "invalid cluster size"},
};

cuda::Result error_text(cuda::Result error, const char **text, auto which) {
    for (const auto &each : errors)
        if (each.error == error && text) {
            *text = which(each);
            return cuda::success;
        }
    if (text)
        *text = nullptr;
    return cuda::invalid_value;
}

cuda::Result copy_text(char *to, int bytes, const std::string &text) {
    if (bytes <= 0)
        return cuda::invalid_value;
    to[text.copy(to, bytes - 1)] = 0;
    return cuda::success;
}

/// Those whose name says another version than the newest that is here.
std::string symbol(const std::string &name, int version) {
    if (name == "cuCtxCreate")
        return version >= 13000 ? "cuCtxCreate_v4" : "cuCtxCreate_v2";
    if (name == "cuGraphInstantiate")
        return version >= 12000 ? "cuGraphInstantiateWithFlags" : "cuGraphInstantiate_v2";
    return name;
}

} // namespace

// --- the API ---

cuda::Result cuInit(unsigned flags) {
    if (flags)
        return cuda::invalid_value;
    Lock lock(driver().lock);
    if (driver().process == getpid())
        return cuda::success;
    // A child of a process that uses the GPU cannot.
    if (driver().process)
        return cuda::not_initialized;
    try {
        driver().gpus = stand_in::gpus_of_environment();
    } catch (const std::exception &error) {
        stand_in::die(std::string("WRONG ") + error.what());
    }
    if (driver().gpus.empty())
        return cuda::no_device;
    driver().process = getpid();
    lock.unlock();
    inject();
    return cuda::success;
}

cuda::Result cuDriverGetVersion(int *version) {
    if (!version)
        return cuda::invalid_value;
    *version = 13000;
    return cuda::success;
}

cuda::Result cuGetErrorName(cuda::Result error, const char **name) {
    return error_text(error, name, [](const auto &each) { return each.name; });
}

cuda::Result cuGetErrorString(cuda::Result error, const char **text) {
    return error_text(error, text, [](const auto &each) { return each.text; });
}

cuda::Result cuDeviceGetCount(int *count) {
    return locked([&](Lock &) {
        if (!count)
            return cuda::invalid_value;
        *count = static_cast<int>(driver().gpus.size());
        return cuda::success;
    });
}

cuda::Result cuDeviceGet(cuda::Device *device, int ordinal) {
    return on_device(ordinal, device, [&](const Gpu &) {
        *device = ordinal;
        return cuda::success;
    });
}

cuda::Result cuDeviceGetName(char *name, int bytes, cuda::Device device) {
    return on_device(device, name,
                     [&](const Gpu &gpu) { return copy_text(name, bytes, gpu.name); });
}

cuda::Result cuDeviceGetUuid_v2(cuda::Uuid *uuid, cuda::Device device) {
    return on_device(device, uuid, [&](const Gpu &gpu) {
        *uuid = gpu.uuid;
        return cuda::success;
    });
}

cuda::Result cuDeviceGetPCIBusId(char *address, int bytes, cuda::Device device) {
    return on_device(device, address,
                     [&](const Gpu &gpu) { return copy_text(address, bytes, gpu.address); });
}

cuda::Result cuDeviceGetAttribute(int *value, int attribute, cuda::Device device) {
    struct {
        int *value;
        int attribute;
        cuda::Device device;
    } const arguments{value, attribute, device};
    return stand_in::call(9, "cuDeviceGetAttribute", current_context, arguments, [&] {
        return on_device(device, value, [&](const Gpu &gpu) {
            if (attribute <= 0)
                return cuda::invalid_value;
            *value = attribute == cuda::multiprocessors              ? static_cast<int>(gpu.sms())
                     : attribute == cuda::threads_per_multiprocessor ? gpu.threads_per_sm
                     : attribute == cuda::major_capability           ? gpu.major
                     : attribute == cuda::minor_capability           ? gpu.minor
                     : attribute == cuda::cooperative_launch         ? 1
                                                                     : 0;
            return cuda::success;
        });
    });
}

cuda::Result cuDevicePrimaryCtxRetain(cuda::Context *context, cuda::Device device) {
    return on_device(device, context, [&](const Gpu &) {
        auto &primary = driver().primary[device];
        if (!primary.users++)
            primary.context = make_context(device);
        *context = primary.context;
        return cuda::success;
    });
}

cuda::Result cuDevicePrimaryCtxRelease_v2(cuda::Device device) {
    return on_device(device, &device, [&](const Gpu &) {
        auto &primary = driver().primary[device];
        if (!primary.users)
            return cuda::invalid_context;
        if (!--primary.users)
            end_context(primary.context);
        return cuda::success;
    });
}

cuda::Result cuCtxCreate_v2(cuda::Context *context, unsigned, cuda::Device device) {
    return on_device(device, context, [&](const Gpu &) {
        *context = current_context = make_context(device);
        return cuda::success;
    });
}

cuda::Result cuCtxCreate_v4(cuda::Context *context, void *params, unsigned flags,
                            cuda::Device device) {
    return params ? cuda::not_supported : cuCtxCreate_v2(context, flags, device);
}

cuda::Result cuCtxDestroy_v2(cuda::Context context) {
    return locked([&](Lock &) {
        if (!driver().contexts.has(context))
            return cuda::invalid_context;
        end_context(context);
        if (current_context == context)
            current_context = nullptr;
        return cuda::success;
    });
}

cuda::Result cuCtxSetCurrent(cuda::Context context) {
    return locked([&](Lock &) {
        if (context && !driver().contexts.has(context))
            return cuda::invalid_context;
        current_context = context;
        return cuda::success;
    });
}

cuda::Result cuCtxGetCurrent(cuda::Context *context) {
    return locked([&](Lock &) {
        if (!context)
            return cuda::invalid_value;
        *context = current_context;
        return cuda::success;
    });
}

cuda::Result cuCtxGetDevice(cuda::Device *device) {
    return in_context([&](CUctx &context, Lock &) {
        if (!device)
            return cuda::invalid_value;
        *device = context.device;
        return cuda::success;
    });
}

cuda::Result cuCtxSynchronize() {
    return in_context([](CUctx &, Lock &) { return cuda::success; });
}

cuda::Result cuModuleLoadData(cuda::Module *module, const void *image) {
    return load(module, image);
}

cuda::Result cuModuleLoadDataEx(cuda::Module *module, const void *image, unsigned, int *, void **) {
    return load(module, image);
}

cuda::Result cuModuleGetFunction(cuda::Function *function, cuda::Module module, const char *name) {
    return in_context([&](CUctx &, Lock &) {
        if (!function || !name)
            return cuda::invalid_value;
        if (!driver().modules.has(module))
            return cuda::invalid_handle;
        const auto params = module->ptx.empty()
                                ? std::vector<std::size_t>(std::string(name) == "where" ? 2 : 0, 8)
                                : params_in(module->ptx, name);
        if (!params)
            return cuda::not_found;
        *function =
            &module->functions.try_emplace(name, CUfunc{module, name, *params}).first->second;
        return cuda::success;
    });
}

cuda::Result cuModuleUnload(cuda::Module module) {
    return in_context([&](CUctx &, Lock &) {
        return driver().modules.remove(module) ? cuda::success : cuda::invalid_handle;
    });
}

cuda::Result cuFuncGetAttribute(int *value, int attribute, cuda::Function function) {
    return locked([&](Lock &) {
        if (!value || attribute < 0)
            return cuda::invalid_value;
        if (!module_of(function))
            return cuda::invalid_handle;
        *value = attribute == 0 ? 1024 : 0; // MAX_THREADS_PER_BLOCK
        return cuda::success;
    });
}

cuda::Result cuMemAlloc_v2(cuda::DevicePointer *address, std::size_t bytes) {
    return in_context([&](CUctx &, Lock &) {
        if (!address || !bytes)
            return cuda::invalid_value;
        static cuda::DevicePointer next = 0x7f00'0000'0000;
        *address = next;
        next += (bytes + 0xfff) / 0x1000 * 0x1000;
        driver().memory[*address].resize(bytes);
        return cuda::success;
    });
}

cuda::Result cuMemFree_v2(cuda::DevicePointer address) {
    return in_context([&](CUctx &, Lock &) {
        return driver().memory.erase(address) || !address ? cuda::success : cuda::invalid_value;
    });
}

cuda::Result cuMemsetD8_v2(cuda::DevicePointer address, unsigned char value, std::size_t count) {
    return in_context([&](CUctx &, Lock &) {
        unsigned char *const at = memory_at(address, count);
        if (!at)
            return cuda::invalid_value;
        std::memset(at, value, count);
        return cuda::success;
    });
}

cuda::Result cuMemsetD32_v2(cuda::DevicePointer address, unsigned value, std::size_t count) {
    return in_context([&](CUctx &, Lock &) {
        unsigned char *const at = memory_at(address, 4 * count);
        if (!at || address % 4)
            return cuda::invalid_value;
        for (std::size_t i = 0; i < count; i++)
            std::memcpy(at + 4 * i, &value, 4);
        return cuda::success;
    });
}

cuda::Result cuMemcpyDtoH_v2(void *to, cuda::DevicePointer from, std::size_t bytes) {
    return in_context([&](CUctx &, Lock &) {
        const unsigned char *const at = memory_at(from, bytes);
        if (!at || !to)
            return cuda::invalid_value;
        std::memcpy(to, at, bytes);
        return cuda::success;
    });
}

cuda::Result cuStreamCreate(cuda::Stream *stream, unsigned) {
    return in_context([&](CUctx &context, Lock &) {
        if (!stream)
            return cuda::invalid_value;
        *stream = driver().streams.add({&context});
        return cuda::success;
    });
}

cuda::Result cuStreamDestroy_v2(cuda::Stream stream) {
    return in_context([&](CUctx &, Lock &) {
        return driver().streams.remove(stream) ? cuda::success : cuda::invalid_handle;
    });
}

cuda::Result cuStreamSynchronize(cuda::Stream stream) {
    return in_context([&](CUctx &context, Lock &) {
        return has_stream(stream, context) ? cuda::success : cuda::invalid_handle;
    });
}

cuda::Result cuStreamQuery(cuda::Stream stream) {
    return cuStreamSynchronize(stream);
}

namespace {

struct LaunchArguments {
    cuda::Function function;
    unsigned grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes;
    cuda::Stream stream;
    void **params;
};
struct LaunchArgumentsAndExtra {
    LaunchArguments most; // ends at a multiple of 8
    void **extra;
};

cuda::Result launch(const LaunchArguments &given, bool cooperative) {
    const Launch launch = {.kernel = {},
                           .grid = {given.grid_x, given.grid_y, given.grid_z},
                           .block = {given.block_x, given.block_y, given.block_z},
                           .shared_bytes = given.shared_bytes,
                           .cooperative = cooperative};
    return launch_now(given.function, launch, given.stream, given.params);
}

cuda::Result launch_kernel(int id, const char *name, const LaunchArguments &given, void **extra) {
    const LaunchArgumentsAndExtra arguments{given, extra};
    return stand_in::call(id, name, current_context, arguments,
                          [&] { return launch(given, false); });
}

cuda::Result launch_cooperative(int id, const char *name, const LaunchArguments &given) {
    return stand_in::call(id, name, current_context, given, [&] { return launch(given, true); });
}

cuda::Result launch_ex(int id, const char *name, const cuda::LaunchConfig *config,
                       cuda::Function function, void **params, void **extra) {
    struct {
        const cuda::LaunchConfig *config;
        cuda::Function function;
        void **params, **extra;
    } const arguments{config, function, params, extra};
    return stand_in::call(id, name, current_context, arguments, [&] {
        if (!config)
            return cuda::invalid_value;
        Launch launch;
        std::copy_n(config->grid, 3, launch.grid.begin());
        std::copy_n(config->block, 3, launch.block.begin());
        launch.shared_bytes = config->shared_bytes;
        for (unsigned i = 0; i < config->attribute_count; i++)
            apply(launch, config->attributes[i].id, config->attributes[i].value);
        return launch_now(function, launch, config->stream, params);
    });
}

} // namespace

#define LAUNCH_ARGUMENTS                                                                           \
    { function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream, params }

cuda::Result cuLaunchKernel(LAUNCH_PARAMETERS, void **extra) {
    return launch_kernel(307, "cuLaunchKernel", LAUNCH_ARGUMENTS, extra);
}

cuda::Result cuLaunchKernel_ptsz(LAUNCH_PARAMETERS, void **extra) {
    return launch_kernel(442, "cuLaunchKernel_ptsz", LAUNCH_ARGUMENTS, extra);
}

cuda::Result cuLaunchCooperativeKernel(LAUNCH_PARAMETERS) {
    return launch_cooperative(477, "cuLaunchCooperativeKernel", LAUNCH_ARGUMENTS);
}

cuda::Result cuLaunchCooperativeKernel_ptsz(LAUNCH_PARAMETERS) {
    return launch_cooperative(478, "cuLaunchCooperativeKernel_ptsz", LAUNCH_ARGUMENTS);
}

cuda::Result cuLaunchKernelEx(const cuda::LaunchConfig *config, cuda::Function function,
                              void **params, void **extra) {
    return launch_ex(652, "cuLaunchKernelEx", config, function, params, extra);
}

cuda::Result cuLaunchKernelEx_ptsz(const cuda::LaunchConfig *config, cuda::Function function,
                                   void **params, void **extra) {
    return launch_ex(653, "cuLaunchKernelEx_ptsz", config, function, params, extra);
}

cuda::Result cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, cuda::Function function,
                                                         int threads, std::size_t shared_bytes) {
    struct {
        int *blocks;
        cuda::Function function;
        int threads;
        std::size_t shared_bytes;
    } const arguments{blocks, function, threads, shared_bytes};
    return stand_in::call(
        374, "cuOccupancyMaxActiveBlocksPerMultiprocessor", current_context, arguments, [&] {
            return in_context([&](CUctx &context, Lock &) {
                if (!blocks || threads <= 0)
                    return cuda::invalid_value;
                if (!module_of(function))
                    return cuda::invalid_handle;
                *blocks = static_cast<int>(context.gpu->blocks_per_sm(threads, shared_bytes));
                return cuda::success;
            });
        });
}

cuda::Result cuGraphCreate(cuda::Graph *graph, unsigned flags) {
    return locked([&](Lock &) {
        if (!graph || flags)
            return cuda::invalid_value;
        *graph = driver().graphs.add({});
        return cuda::success;
    });
}

cuda::Result cuGraphDestroy(cuda::Graph graph) {
    return locked([&](Lock &) {
        return driver().graphs.remove(graph) ? cuda::success : cuda::invalid_value;
    });
}

cuda::Result cuGraphClone(cuda::Graph *clone, cuda::Graph graph) {
    return locked([&](Lock &) {
        if (!clone || !driver().graphs.has(graph))
            return cuda::invalid_value;
        *clone = driver().graphs.add({});
        for (const auto &node : graph->nodes) {
            CUgraphNode_ &added = *add_node(**clone, node->work);
            added.original = node.get();
            added.attributes = node->attributes;
        }
        return cuda::success;
    });
}

cuda::Result cuGraphGetNodes(cuda::Graph graph, cuda::Node *nodes, std::size_t *count) {
    return locked([&](Lock &) {
        if (!count || !driver().graphs.has(graph))
            return cuda::invalid_value;
        const std::size_t there = graph->nodes.size();
        for (std::size_t i = 0; nodes && i < *count; i++)
            nodes[i] = i < there ? graph->nodes[i].get() : nullptr;
        *count = nodes ? std::min(*count, there) : there;
        return cuda::success;
    });
}

cuda::Result cuGraphNodeGetType(cuda::Node node, int *type) {
    return locked([&](Lock &) {
        if (!type || !node_of(node))
            return cuda::invalid_value;
        *type = node->work.function ? cuda::kernel_node : cuda::empty_node;
        return cuda::success;
    });
}

cuda::Result cuGraphNodeFindInClone(cuda::Node *node, cuda::Node original, cuda::Graph clone) {
    return locked([&](Lock &) {
        if (!node || !driver().graphs.has(clone))
            return cuda::invalid_value;
        for (const auto &each : clone->nodes)
            if (each->original == original) {
                *node = each.get();
                return cuda::success;
            }
        return cuda::invalid_value;
    });
}

cuda::Result cuGraphAddEmptyNode(cuda::Node *node, cuda::Graph graph, const cuda::Node *,
                                 std::size_t) {
    return locked([&](Lock &) {
        if (!node || !driver().graphs.has(graph))
            return cuda::invalid_value;
        *node = add_node(*graph, {});
        return cuda::success;
    });
}

cuda::Result cuGraphAddKernelNode_v2(cuda::Node *node, cuda::Graph graph, const cuda::Node *,
                                     std::size_t, const cuda::KernelNodeParams *params) {
    return locked([&](Lock &) {
        if (!node || !driver().graphs.has(graph) || !params)
            return cuda::invalid_value;
        Work work;
        if (const auto error = work_of(work, *params, {}))
            return error;
        *node = add_node(*graph, std::move(work));
        return cuda::success;
    });
}

cuda::Result cuGraphKernelNodeGetParams_v2(cuda::Node node, cuda::KernelNodeParams *params) {
    return of_kernel_node(node, params, [&](CUgraphNode_ &found) {
        *params = {};
        params->function = found.work.function;
        std::copy_n(found.work.launch.grid.begin(), 3, params->grid);
        std::copy_n(found.work.launch.block.begin(), 3, params->block);
        params->shared_bytes = found.work.launch.shared_bytes;
        found.pointers.clear();
        for (auto &argument : found.work.arguments)
            found.pointers.push_back(argument.data());
        params->params = found.pointers.data();
        params->context = found.work.function->module->context;
        return cuda::success;
    });
}

cuda::Result cuGraphKernelNodeSetParams_v2(cuda::Node node, const cuda::KernelNodeParams *params) {
    return of_kernel_node(node, params, [&](CUgraphNode_ &found) {
        Work work;
        if (const auto error = work_of(work, *params, found.attributes))
            return error;
        found.work = std::move(work);
        return cuda::success;
    });
}

cuda::Result cuGraphKernelNodeGetAttribute(cuda::Node node, int attribute,
                                           cuda::AttributeValue *value) {
    return of_kernel_node(node, value, [&](CUgraphNode_ &found) {
        *value = {};
        const auto set = found.attributes.find(attribute);
        if (set != found.attributes.end())
            std::memcpy(value, set->second.data(), sizeof(*value));
        return cuda::success;
    });
}

cuda::Result cuGraphKernelNodeSetAttribute(cuda::Node node, int attribute,
                                           const cuda::AttributeValue *value) {
    return of_kernel_node(node, value, [&](CUgraphNode_ &found) {
        apply(found.work.launch, attribute, *value);
        found.attributes[attribute].assign(reinterpret_cast<const char *>(value), sizeof(*value));
        return cuda::success;
    });
}

cuda::Result cuGraphInstantiate_v2(cuda::Exec *exec, cuda::Graph graph, cuda::Node *error_node,
                                   char *log, std::size_t bytes) {
    struct {
        cuda::Exec *exec;
        cuda::Graph graph;
        cuda::Node *error_node;
        char *log;
        std::size_t bytes;
    } const arguments{exec, graph, error_node, log, bytes};
    return stand_in::call(578, "cuGraphInstantiate_v2", current_context, arguments,
                          [&] { return instantiate(exec, graph); });
}

cuda::Result cuGraphInstantiateWithFlags(cuda::Exec *exec, cuda::Graph graph,
                                         unsigned long long flags) {
    struct {
        cuda::Exec *exec;
        cuda::Graph graph;
        unsigned long long flags;
    } const arguments{exec, graph, flags};
    return stand_in::call(643, "cuGraphInstantiateWithFlags", current_context, arguments,
                          [&] { return instantiate(exec, graph); });
}

cuda::Result cuGraphInstantiateWithParams(cuda::Exec *exec, cuda::Graph graph,
                                          cuda::InstantiateParams *params) {
    struct {
        cuda::Exec *exec;
        cuda::Graph graph;
        cuda::InstantiateParams *params;
    } const arguments{exec, graph, params};
    return stand_in::call(656, "cuGraphInstantiateWithParams", current_context, arguments, [&] {
        if (!params)
            return cuda::invalid_value;
        const auto error = instantiate(exec, graph);
        params->error_node = nullptr;
        params->result = error ? 1 : 0;
        return error;
    });
}

cuda::Result cuGraphExecUpdate_v2(cuda::Exec exec, cuda::Graph graph, cuda::UpdateResult *result) {
    struct {
        cuda::Exec exec;
        cuda::Graph graph;
        cuda::UpdateResult *result;
    } const arguments{exec, graph, result};
    return stand_in::call(696, "cuGraphExecUpdate_v2", current_context, arguments,
                          [&] { return update(exec, graph, result); });
}

cuda::Result cuGraphExecKernelNodeSetParams_v2(cuda::Exec exec, cuda::Node node,
                                               const cuda::KernelNodeParams *params) {
    struct {
        cuda::Exec exec;
        cuda::Node node;
        const cuda::KernelNodeParams *params;
    } const arguments{exec, node, params};
    return stand_in::call(
        692, "cuGraphExecKernelNodeSetParams_v2", current_context, arguments, [&] {
            return in_context([&](CUctx &, Lock &) {
                if (!driver().execs.has(exec) || !params || !node_of(node))
                    return cuda::invalid_value;
                for (auto &step : exec->steps)
                    if (step.node == node && step.work.function) {
                        Work work;
                        if (const auto error = work_of(work, *params, step.attributes))
                            return error;
                        change(step, work, step.attributes);
                        return cuda::success;
                    }
                return cuda::invalid_value;
            });
        });
}

cuda::Result cuGraphExecDestroy(cuda::Exec exec) {
    return stand_in::call(516, "cuGraphExecDestroy", current_context, exec, [&] {
        return locked([&](Lock &) {
            return driver().execs.remove(exec) ? cuda::success : cuda::invalid_value;
        });
    });
}

namespace {

cuda::Result launch_graph(int id, const char *name, cuda::Exec exec, cuda::Stream stream) {
    struct {
        cuda::Exec exec;
        cuda::Stream stream;
    } const arguments{exec, stream};
    return stand_in::call(id, name, current_context, arguments,
                          [&] { return launch_graph(exec, stream); });
}

} // namespace

cuda::Result cuGraphLaunch(cuda::Exec exec, cuda::Stream stream) {
    return launch_graph(514, "cuGraphLaunch", exec, stream);
}

cuda::Result cuGraphLaunch_ptsz(cuda::Exec exec, cuda::Stream stream) {
    return launch_graph(515, "cuGraphLaunch_ptsz", exec, stream);
}

cuda::Result cuGetExportTable(const void **table, const cuda::Uuid *which) {
    if (!table || !which)
        return cuda::invalid_value;
    if (std::memcmp(which, &cuda::tools_table, sizeof(*which)))
        return cuda::not_found;
    *table = stand_in::export_table();
    return cuda::success;
}

cuda::Result cuGetProcAddress_v2(const char *name, void **function, int version,
                                 std::uint64_t flags, int *status) {
    if (!name || !function)
        return cuda::invalid_value;
    Dl_info here;
    dladdr(reinterpret_cast<void *>(cuInit), &here);
    void *const self = dlopen(here.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    *function = nullptr;
    for (const char *suffix : {"_ptsz", "_v2", ""})
        if (!*function && (suffix[1] != 'p' || flags & 2)) // PER_THREAD_DEFAULT_STREAM
            *function = dlsym(self, (symbol(name, version) + suffix).c_str());
    dlclose(self);
    if (status)
        *status = *function ? 0 : 1; // SYMBOL_NOT_FOUND
    return *function ? cuda::success : cuda::not_found;
}
