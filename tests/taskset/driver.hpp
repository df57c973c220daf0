// SPDX-License-Identifier: MIT OR GPL-2.0
// The state of the stand-in: objects behind handles, and memory.
#pragma once

#include "api.hpp"
#include "descriptor.hpp"
#include "gpu.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <unistd.h>

struct CUctx {
    const stand_in::Gpu *gpu;
    cuda::Device device;
    unsigned number;
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
    bool captured = false;
};
struct CUevent_ {
    CUctx *context;
    unsigned long looks_left = 0; // queries until the launches before the event have ended
};

namespace stand_in {

/// A kernel with its arguments.
struct Work {
    CUfunc *function = nullptr; // none: an empty node
    Launch launch;
    std::vector<std::vector<unsigned char>> arguments;
    bool operator==(const Work &) const = default;
};

} // namespace stand_in

struct CUgraphNode_ {
    CUgraphNode_ *original; // in a clone, the node that was cloned
    stand_in::Work work;
    CUgraph_ *child; // the child graph, which belongs to the node
    std::map<int, std::string> attributes;
    std::vector<void *> pointers; // pointers to arguments, for cuGraphKernelNodeGetParams()
};
struct CUgraph_ {
    std::vector<std::unique_ptr<CUgraphNode_>> nodes;
};
struct CUgraphExec_ {
    struct Step {
        CUgraphNode_ *node; // the node that the step was made from, which may no longer exist
        stand_in::Work work;
        std::map<int, std::string> attributes;
        std::optional<stand_in::Descriptor> descriptor; // built at the first launch
        std::optional<stand_in::Descriptor> before;     // the descriptor before the last change
    };
    std::vector<Step> steps;
};

namespace stand_in {

/// The objects behind valid handles.
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
    std::mutex lock; // not held during callbacks
    pid_t process = 0;
    std::vector<Gpu> gpus;
    unsigned contexts_made = 0;
    Live<CUctx> contexts;
    Live<CUmod> modules;
    Live<CUstream_> streams;
    Live<CUevent_> events;
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
Driver &driver();
extern thread_local CUctx *current_context;
using Lock = std::unique_lock<std::mutex>;

/// Calls @p body under the lock, if this process has initialised the driver. A child of a process
/// that has initialised the driver has to do so itself.
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

CUctx *make_context(cuda::Device device);
void end_context(CUctx *context);
/// Returns the module of a function, or nullptr if there is no such function.
CUmod *module_of(const CUfunc *function);
/// Returns the number of events that show launches which have not ended.
unsigned in_flight();
/// Ends all launches.
void end_launches();
/// Returns true if the stream is captured, so that launches are recorded and do not run.
bool is_captured(cuda::Stream stream);
bool has_stream(cuda::Stream stream, const CUctx &context);
/// Returns the allocated bytes at an address, or nullptr.
unsigned char *memory_at(cuda::DevicePointer address, std::size_t bytes);

} // namespace stand_in
