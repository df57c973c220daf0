// SPDX-License-Identifier: MIT OR GPL-2.0
// A stand-in for libcuda. It has no GPU, and answers as CUDA 13.0 of driver 580.159.04 was measured
// to do, as far as that is known. A launch is over when it returns.
//
// Variables of the environment:
//   STAND_IN_GPUS      the GPUs, as h100,h200,... (gpu.cpp); by default h100
//   STAND_IN_SEED      makes other UUIDs
//   STAND_IN_LIES      deaf:BIT makes a bit have no effect, swap:BIT:BIT swaps two bits, and with
//                      weak:BITS masks of more bits have no effect
//   STAND_IN_LOG       a file that gets a line for each launch
//   STAND_IN_LOOKS     how often an event is queried until the launches before it have ended
//                      (event.cpp)
//   STAND_IN_PAUSE_US  the time from the callback before a launch to that with the descriptor
//   STAND_IN_REFUSES   the number of a callback that cannot be enabled
//   STAND_IN_NAMELESS  the number of a device without a UUID
//   STAND_IN_NODES     the number of nodes that each graph pretends to have
//   STAND_IN_NESTS     makes launches by a nested call of the API (launch.cpp)
//   STAND_IN_KERNELS   handles are CUkernels, which cuFuncGetName() refuses
//   STAND_IN_CUINIT    the error of cuInit()
//   STAND_IN_DEVICE    a file to keep open, as the real CUDA keeps /dev/nvidia-uvm open
#include "callback.hpp"
#include "driver.hpp"
#include "log.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include <dlfcn.h>
#include <fcntl.h>

using namespace stand_in;

namespace {

// --- modules ---

/// Returns the size of each parameter of a kernel in PTX, or nullopt if there is no such kernel.
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

/// Gives the name of a function, unless the function of the API is for handles of another kind.
cuda::Result name_of(const char **name, cuda::Function function, bool is_of_kind) {
    return locked([&](Lock &) {
        if (!name || !function)
            return cuda::invalid_value;
        if (!is_of_kind || !module_of(function))
            return cuda::invalid_handle;
        *name = function->name.c_str();
        return cuda::success;
    });
}

// --- initialisation ---

/// Loads the injected library. As the driver does, it prints nothing if that fails.
void inject() {
    const char *const path = std::getenv("CUDA_INJECTION64_PATH");
    void *const library = path ? dlopen(path, RTLD_NOW) : nullptr;
    void *const start = library ? dlsym(library, "InitializeInjection") : nullptr;
    // It was not measured what the real driver does with a library that fails.
    if (start && !reinterpret_cast<int (*)()>(start)())
        dlclose(library);
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

/// Returns the symbol of a function in a version. Some names have several versions.
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
    // The error stands for a machine that is not set up.
    if (const char *const error = std::getenv("STAND_IN_CUINIT"))
        return static_cast<cuda::Result>(std::atoi(error));
    Lock lock(driver().lock);
    if (driver().process == getpid())
        return cuda::success;
    // A child of a process that uses the GPU cannot initialise CUDA.
    if (driver().process)
        return cuda::not_initialized;
    try {
        driver().gpus = visible_gpus();
    } catch (const std::exception &error) {
        die(std::string("WRONG ") + error.what());
    }
    if (driver().gpus.empty())
        return cuda::no_device;
    // The open device shows nvtaskset that this process uses the GPU. It is never closed.
    if (const char *const device = std::getenv("STAND_IN_DEVICE"))
        if (open(device, O_RDWR | O_CLOEXEC) < 0)
            die(std::string("WRONG STAND_IN_DEVICE ") + device);
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
    const char *const nameless = std::getenv("STAND_IN_NAMELESS");
    return on_device(device, uuid, [&](const Gpu &gpu) {
        if (nameless && std::to_string(device) == nameless)
            return cuda::not_supported;
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
    return call(9, "cuDeviceGetAttribute", current_context, arguments, [&] {
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
    return call(544, "cuDevicePrimaryCtxRelease_v2", current_context, device, [&] {
        return on_device(device, &device, [&](const Gpu &) {
            auto &primary = driver().primary[device];
            if (!primary.users)
                return cuda::invalid_context;
            if (!--primary.users)
                end_context(primary.context);
            return cuda::success;
        });
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
    return call(322, "cuCtxDestroy_v2", current_context, context, [&] {
        return locked([&](Lock &) {
            if (!driver().contexts.has(context))
                return cuda::invalid_context;
            end_context(context);
            if (current_context == context)
                current_context = nullptr;
            return cuda::success;
        });
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
    return call(17, "cuCtxSynchronize", current_context, nullptr, [] {
        return in_context([](CUctx &, Lock &) {
            end_launches();
            return cuda::success;
        });
    });
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
    return call(22, "cuModuleUnload", current_context, module, [&] {
        return in_context([&](CUctx &, Lock &) {
            return driver().modules.remove(module) ? cuda::success : cuda::invalid_handle;
        });
    });
}

cuda::Result cuFuncGetName(const char **name, cuda::Function function) {
    return name_of(name, function, !std::getenv("STAND_IN_KERNELS"));
}

cuda::Result cuKernelGetName(const char **name, cuda::Kernel kernel) {
    return name_of(name, reinterpret_cast<cuda::Function>(kernel),
                   std::getenv("STAND_IN_KERNELS") != nullptr);
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

cuda::Result cuMemAllocHost_v2(void **memory, std::size_t bytes) {
    return in_context([&](CUctx &, Lock &) {
        if (!memory || !bytes)
            return cuda::invalid_value;
        *memory = std::malloc(bytes);
        return *memory ? cuda::success : cuda::invalid_value;
    });
}

cuda::Result cuMemFreeHost(void *memory) {
    return in_context([&](CUctx &, Lock &) {
        std::free(memory);
        return cuda::success;
    });
}

cuda::Result cuMemcpyHtoDAsync_v2(cuda::DevicePointer to, const void *from, std::size_t bytes,
                                  cuda::Stream stream) {
    return in_context([&](CUctx &context, Lock &) {
        unsigned char *const at = memory_at(to, bytes);
        if (!has_stream(stream, context))
            return cuda::invalid_handle;
        if (!at || !from)
            return cuda::invalid_value;
        std::memcpy(at, from, bytes);
        return cuda::success;
    });
}

cuda::Result cuMemcpyDtoHAsync_v2(void *to, cuda::DevicePointer from, std::size_t bytes,
                                  cuda::Stream stream) {
    return in_context([&](CUctx &context, Lock &) {
        const unsigned char *const at = memory_at(from, bytes);
        if (!has_stream(stream, context))
            return cuda::invalid_handle;
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

/// Ends all launches of a stream, as a real wait would.
static cuda::Result wait_for(cuda::Stream stream) {
    return in_context([&](CUctx &context, Lock &) {
        if (!has_stream(stream, context))
            return cuda::invalid_handle;
        end_launches();
        return cuda::success;
    });
}

cuda::Result cuStreamSynchronize(cuda::Stream stream) {
    return call(126, "cuStreamSynchronize", current_context, stream,
                [&] { return wait_for(stream); });
}

cuda::Result cuStreamQuery(cuda::Stream stream) {
    return call(125, "cuStreamQuery", current_context, stream, [&] { return wait_for(stream); });
}
cuda::Result cuGetExportTable(const void **table, const cuda::Uuid *which) {
    if (!table || !which)
        return cuda::invalid_value;
    if (std::memcmp(which, &cuda::tools_table, sizeof(*which)) != 0)
        return cuda::not_found;
    *table = export_table();
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
    for (const std::string suffix : {"_ptsz", "_v2", ""})
        if (!*function && (suffix != "_ptsz" || flags & 2)) // PER_THREAD_DEFAULT_STREAM
            *function = dlsym(self, (symbol(name, version) + suffix).c_str());
    dlclose(self);
    if (status)
        *status = *function ? 0 : 1; // SYMBOL_NOT_FOUND
    return *function ? cuda::success : cuda::not_found;
}
