// SPDX-License-Identifier: MIT OR GPL-2.0
#include <array>
#include <fmt/format.h>

#include "device.hpp"
#include "lib/partition/cuda.hpp"
#include "lib/partition/cuda_error.hpp"
#include "lib/stgm/fit.hpp"

namespace nvstgm {
namespace {

using nvtaskset::cuda::Address;
using nvtaskset::cuda::Handle;

constexpr unsigned sync_spins = 1, sync_sleeps = 4; // CU_CTX_SCHED_SPIN, CU_CTX_SCHED_BLOCKING_SYNC
constexpr unsigned non_blocking = 1;                // CU_STREAM_NON_BLOCKING
// A kernel fills its SMs, so that no second kernel has room beside it.
constexpr unsigned threads_per_block = 256, blocks_per_sm = 8, sms_per_tpc = 2;
// A turn of a full SM takes about 40 ns (H100), so that no kernel takes longer than 170 ms.
constexpr std::int64_t most_turns = std::int64_t{1} << 22;
// No copy is faster than fastest_copy, in bytes/ns. It bounds the first guess of a size.
constexpr std::int64_t fastest_copy = 128, most_bytes = std::int64_t{512} << 20;
constexpr int warm_ups = 3, each_measured = 4, at_last_measured = 12, most_corrections = 20;

// Each thread of the kernel does a chain of multiply-adds, for a given number of turns.
const char *const ptx = R"(
.version 6.0
.target sm_60
.address_size 64
.visible .entry work(.param .u64 data, .param .u32 turns)
{
    .reg .u64 %a;
    .reg .u32 %n, %t;
    .reg .f32 %f<5>;
    .reg .pred %p;
    ld.param.u64 %a, [data];
    ld.param.u32 %n, [turns];
    mov.u32 %t, %tid.x;
    cvt.rn.f32.u32 %f0, %t;
    mov.f32 %f1, %f0;
    mov.f32 %f2, %f0;
    mov.f32 %f3, %f0;
    mov.f32 %f4, 0f3F7FFFFE;
again:
    fma.rn.f32 %f0, %f0, %f4, %f4;
    fma.rn.f32 %f1, %f1, %f4, %f4;
    fma.rn.f32 %f2, %f2, %f4, %f4;
    fma.rn.f32 %f3, %f3, %f4, %f4;
    sub.u32 %n, %n, 1;
    setp.ne.u32 %p, %n, 0;
    @%p bra again;
    add.f32 %f0, %f0, %f1;
    add.f32 %f2, %f2, %f3;
    add.f32 %f0, %f0, %f2;
    setp.eq.f32 %p, %f0, 0f00000000;
    @!%p bra done;
    st.global.f32 [%a], %f0;
done:
    ret;
}
)";

class CudaDevice final : public Device {
  public:
    CudaDevice(bool busy, Look look) : busy_(busy), look_(std::move(look)) {}

    Outcome<void> open() override {
        if (!cuda_.loaded())
            return fail("libcuda.so.1, of NVIDIA's driver, cannot be loaded; --without-gpu runs "
                        "the set without it");
        Handle context = nullptr, module = nullptr;
        if (const auto did = call("cuInit", 0U); !did)
            return did;
        // Old drivers do not have this function. With them CUDA decides how it waits.
        cuda_.call("cuDevicePrimaryCtxSetFlags_v2", 0, busy_ ? sync_spins : sync_sleeps);
        if (const auto did = call("cuDevicePrimaryCtxRetain", &context, 0); !did)
            return did;
        if (const auto did = call("cuCtxSetCurrent", context); !did)
            return did;
        if (const auto did = call("cuModuleLoadData", &module, static_cast<const void *>(ptx));
            !did)
            return did;
        if (const auto did = call("cuModuleGetFunction", &function_, module, "work"); !did)
            return did;
        if (const auto did = call("cuStreamCreate", &stream_, non_blocking); !did)
            return did;
        return call("cuMemAlloc_v2", &there_, static_cast<std::size_t>(4096));
    }

    Outcome<std::size_t> prepare_copy(bool to_device, stgm::Time length) override {
        const std::int64_t bytes = std::min(most_bytes, stgm::multiply(length, fastest_copy));
        if (const auto made = make_room(static_cast<std::size_t>(bytes)); !made)
            return fail(made.error());
        return prepare({.copies = true, .to_device = to_device}, length, bytes, "copy");
    }

    Outcome<std::size_t> prepare_kernel(std::size_t tpcs, stgm::Time length) override {
        return prepare({.blocks = static_cast<unsigned>(tpcs) * sms_per_tpc * blocks_per_sm},
                       length, most_turns, "kernel");
    }

    Outcome<void> copy(std::size_t work) override { return copy(work_[work]); }
    Outcome<void> launch(std::size_t work) override { return launch(work_[work]); }
    Outcome<void> complete() override {
        return busy_ ? poll() : call("cuStreamSynchronize", stream_);
    }

  private:
    struct Work {
        bool copies = false, to_device = false;
        unsigned blocks = 0;
        std::int64_t amount = 0; ///< bytes of a copy, turns of a kernel
    };

    template <typename... Arguments>
    Outcome<void> call(const char *name, Arguments... arguments) {
        const int error = cuda_.call(name, arguments...);
        return error ? failed(name, error) : Outcome<void>();
    }

    Outcome<void> failed(const char *name, int error) {
        return fail(fmt::format("{} failed: {}", name, nvtaskset::cuda::error_text(cuda_, error)));
    }

    Outcome<void> make_room(std::size_t bytes) {
        if (bytes <= room_)
            return {};
        if (host_)
            cuda_.call("cuMemFreeHost", host_);
        cuda_.call("cuMemFree_v2", there_);
        host_ = nullptr;
        room_ = 0;
        if (const auto did = call("cuMemAlloc_v2", &there_, bytes); !did)
            return did;
        const auto did = call("cuMemAllocHost_v2", &host_, bytes);
        room_ = did ? bytes : 0;
        return did;
    }

    Outcome<void> poll() {
        int state = 0;
        while ((state = cuda_.call("cuStreamQuery", stream_)) == nvtaskset::cuda::not_ready)
            look_();
        return state ? failed("cuStreamQuery", state) : Outcome<void>();
    }

    Outcome<void> copy(const Work &work) {
        const auto bytes = static_cast<std::size_t>(work.amount);
        const auto queued = work.to_device
                                ? call("cuMemcpyHtoDAsync_v2", there_,
                                       static_cast<const void *>(host_), bytes, stream_)
                                : call("cuMemcpyDtoHAsync_v2", host_, there_, bytes, stream_);
        return queued ? poll() : queued;
    }

    Outcome<void> launch(const Work &work) {
        auto turns = static_cast<std::uint32_t>(work.amount);
        std::array<void *, 2> arguments{&there_, &turns};
        return call("cuLaunchKernel", function_, work.blocks, 1U, 1U, threads_per_block, 1U, 1U, 0U,
                    stream_, arguments.data(), static_cast<void **>(nullptr));
    }

    Outcome<void> once(const Work &work) {
        if (work.copies)
            return copy(work);
        const auto launched = launch(work);
        return launched ? complete() : launched;
    }

    /// Finds an amount of work that takes longer than @p length at most once in at_last_measured
    /// runs. Returns the number of the work, or an error if even the least amount takes longer.
    Outcome<std::size_t> prepare(Work work, stgm::Time length, std::int64_t most,
                                 const char *what) {
        Outcome<void> state;
        // Returns the second longest time: the machine may have been busy with something else once.
        const auto longest = [&](std::int64_t amount, int times) {
            work.amount = amount;
            stgm::Time first = 0, second = 0;
            for (int n = 0; n < times && state; n++) {
                const stgm::Time begin = stgm::now_ns();
                state = once(work);
                const stgm::Time took = stgm::now_ns() - begin;
                second = std::max(second, std::min(first, took));
                first = std::max(first, took);
            }
            return second;
        };
        longest(1, warm_ups);
        const stgm::Time least = longest(1, each_measured);
        std::int64_t amount = stgm::fit(
            length, most, [&](std::int64_t some) { return longest(some, each_measured); });
        for (int n = 0;
             n < most_corrections && amount > 0 && longest(amount, at_last_measured) > length; n++)
            amount = amount * 97 / 100;
        if (!state)
            return fail(state.error());
        if (amount <= 0)
            return fail(fmt::format(
                "a {} of {} us cannot be made here: the shortest was seen to take {} us", what,
                length / 1000, (least + 999) / 1000));
        work.amount = amount;
        work_.push_back(work);
        return work_.size() - 1;
    }

    nvtaskset::cuda::Library cuda_;
    bool busy_;
    Look look_;
    Handle function_ = nullptr, stream_ = nullptr;
    void *host_ = nullptr;
    Address there_ = 0;
    std::size_t room_ = 0; ///< bytes at host_, and at there_
    std::vector<Work> work_;
};

} // namespace

std::unique_ptr<Device> cuda_device(bool busy, Look look) {
    return std::make_unique<CudaDevice>(busy, std::move(look));
}

} // namespace nvstgm
