// SPDX-License-Identifier: MIT OR GPL-2.0
// A library for LD_PRELOAD that stands for the part of NVIDIA's kernel driver which reports the
// places of SMs. The answer is laid out as in ctrl2080gr.h of open-gpu-kernel-modules (580.159.04
// has nine fields).
#include "gpu.hpp"
#include "lib/driver/rm_abi.hpp"

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <string>

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace {

namespace rm = nvdebug::driver::rm;

struct SmOrder {
    static constexpr std::uint32_t command = 0x2080121b;
    struct {
        std::uint16_t gpc, local_tpc, local_sm, tpc, virtual_gpc, migratable_tpc, ugpu, cpc,
            virtual_tpc;
    } sms[512];
    std::uint16_t sm_count, tpc_count;
    alignas(8) std::uint64_t route[2];
};
static_assert(sizeof(SmOrder) == 9240);

constexpr const char *name = "stand-in of /dev/nvidia";
std::mutex lock;
std::map<std::uint32_t, std::size_t> gpu_of_object; // devices and subdevices

const std::vector<stand_in::Gpu> &gpus() {
    static const auto all = stand_in::all_gpus();
    return all;
}

bool is_ours(int descriptor) {
    char link[64] = {};
    const std::string path = "/proc/self/fd/" + std::to_string(descriptor);
    return readlink(path.c_str(), link, sizeof(link) - 1) > 0 &&
           std::string(link).starts_with(std::string("/memfd:") + name);
}

bool is_nvidia(const char *path) {
    return !std::strncmp(path, "/dev/nvidia", 11) && std::strspn(path + 11, "0123456789ctl") > 0;
}

template <typename T>
T *at(std::uint64_t pointer) {
    return reinterpret_cast<T *>(static_cast<std::uintptr_t>(pointer));
}

void fill(SmOrder &order, const stand_in::Gpu &gpu) {
    std::map<unsigned, unsigned> tpcs_of_gpc;
    for (std::size_t n = 0; n < gpu.tpcs.size(); n++) {
        const stand_in::Tpc &tpc = gpu.tpcs[n];
        const auto local = static_cast<std::uint16_t>(tpcs_of_gpc[tpc.logical_gpc]++);
        for (unsigned sm = 0; sm < 2; sm++) {
            auto &place = order.sms[tpc.first_sm + sm];
            place = {};
            place.gpc = static_cast<std::uint16_t>(tpc.logical_gpc);
            place.local_tpc = place.virtual_tpc = local;
            place.local_sm = static_cast<std::uint16_t>(sm);
            place.tpc = static_cast<std::uint16_t>(n);
            place.virtual_gpc = static_cast<std::uint16_t>(tpc.gpc);
        }
    }
    order.sm_count = static_cast<std::uint16_t>(gpu.sms());
    order.tpc_count = static_cast<std::uint16_t>(gpu.tpcs.size());
}

std::uint32_t control(const rm::Control &asked) {
    if (asked.command == rm::IdInfo::command && asked.params_size == sizeof(rm::IdInfo)) {
        auto &id = *at<rm::IdInfo>(asked.params);
        if (id.gpu_id >= gpus().size())
            return rm::invalid_argument;
        id.device = id.gpu_id;
        id.subdevice = 0;
        return rm::ok;
    }
    const auto gpu = gpu_of_object.find(asked.object);
    if (asked.command != SmOrder::command)
        return rm::not_supported;
    if (gpu == gpu_of_object.end())
        return rm::object_not_found;
    if (asked.params_size != sizeof(SmOrder))
        return rm::invalid_argument;
    fill(*at<SmOrder>(asked.params), gpus()[gpu->second]);
    return rm::ok;
}

std::uint32_t alloc(rm::Alloc &asked) {
    if (asked.object_class == rm::class_client) {
        asked.object = rm::first_client + 1;
        return rm::ok;
    }
    if (asked.object_class == rm::class_device)
        gpu_of_object[asked.object] = at<rm::DeviceParams>(asked.params)->device;
    else if (asked.object_class == rm::class_subdevice && gpu_of_object.contains(asked.parent))
        gpu_of_object[asked.object] = gpu_of_object[asked.parent];
    else
        return rm::object_not_found;
    return rm::ok;
}

int answer(unsigned number, void *argument, std::size_t bytes) {
    const std::lock_guard guard(lock);
    if (number == rm::esc_version && bytes == sizeof(rm::Version)) {
        auto &version = *static_cast<rm::Version *>(argument);
        std::snprintf(version.text, sizeof(version.text), "580.159.04");
        version.reply = 1;
    } else if (number == rm::esc_card_info && bytes >= gpus().size() * sizeof(rm::Card)) {
        auto *const cards = static_cast<rm::Card *>(argument);
        for (std::uint32_t n = 0; n < gpus().size(); n++) {
            cards[n] = {};
            cards[n].valid = 1;
            cards[n].bus = static_cast<std::uint8_t>(n + 1);
            cards[n].gpu_id = cards[n].minor = n;
        }
    } else if (number == rm::esc_alloc && bytes == sizeof(rm::Alloc)) {
        auto &asked = *static_cast<rm::Alloc *>(argument);
        asked.status = alloc(asked);
    } else if (number == rm::esc_control && bytes == sizeof(rm::Control)) {
        auto &asked = *static_cast<rm::Control *>(argument);
        asked.status = control(asked);
    } else {
        errno = EINVAL;
        return -1;
    }
    return 0;
}

int open_as(const char *function, const char *path, int flags, mode_t mode) {
    if (is_nvidia(path))
        return memfd_create(name, flags & O_CLOEXEC ? MFD_CLOEXEC : 0);
    return reinterpret_cast<int (*)(const char *, int, mode_t)>(dlsym(RTLD_NEXT, function))(
        path, flags, mode);
}

mode_t mode_in(int flags, va_list rest) {
    return flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;
}

} // namespace

extern "C" {

[[gnu::visibility("default")]] int open(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    const mode_t mode = mode_in(flags, rest);
    va_end(rest);
    return open_as("open", path, flags, mode);
}

[[gnu::visibility("default")]] int open64(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    const mode_t mode = mode_in(flags, rest);
    va_end(rest);
    return open_as("open64", path, flags, mode);
}

[[gnu::visibility("default")]] int ioctl(int descriptor, unsigned long request, ...) {
    va_list rest;
    va_start(rest, request);
    void *const argument = va_arg(rest, void *);
    va_end(rest);
    if (_IOC_TYPE(request) == 'F' && is_ours(descriptor))
        return answer(_IOC_NR(request), argument, _IOC_SIZE(request));
    return reinterpret_cast<int (*)(int, unsigned long, void *)>(dlsym(RTLD_NEXT, "ioctl"))(
        descriptor, request, argument);
}
}
