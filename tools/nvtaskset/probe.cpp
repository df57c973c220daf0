// SPDX-License-Identifier: MIT OR GPL-2.0
#include "probe.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <map>
#include <thread>

#include "lib/partition/cuda.hpp"
#include "lib/partition/cuda_error.hpp"
#include "lib/partition/page.hpp"
#include "lib/partition/text.hpp"
#include "sm_order.hpp"

namespace nvtaskset {
namespace {

using cuda::Address;
using cuda::Handle;
using Sms = std::vector<std::uint32_t>;

constexpr std::uint32_t bits_max = 32 * std::tuple_size_v<Bits>;
constexpr std::size_t probed_sms_max = 1024;
constexpr unsigned threads = 1024; // at most two blocks fit on an SM of any generation
constexpr unsigned waves = 4;
constexpr auto kernel_timeout = std::chrono::seconds(5);

// Each block records its SM and occupies it for @ns, so that the next block goes to another SM.
const char *const kernel = R"(
.version 6.0
.target sm_60
.address_size 64
.visible .entry where(.param .u64 sms, .param .u64 ns)
{
    .reg .u64 %t<5>;
    .reg .u32 %n<3>;
    .reg .pred %p, %q;
    ld.param.u64 %t0, [sms];
    ld.param.u64 %t4, [ns];
    cvta.to.global.u64 %t0, %t0;
    mov.u32 %n0, %smid;
    mul.wide.u32 %t1, %n0, 4;
    add.u64 %t0, %t0, %t1;
    mov.u32 %n1, 1;
    st.global.u32 [%t0], %n1;
    mov.u64 %t2, %globaltimer;
    mov.u32 %n2, 0;
again:
    mov.u64 %t3, %globaltimer;
    sub.u64 %t3, %t3, %t2;
    add.u32 %n2, %n2, 1;
    setp.lt.u64 %p, %t3, %t4;
    setp.lt.u32 %q, %n2, 1000000;
    and.pred %p, %p, %q;
    @%p bra again;
    ret;
}
)";

Refusal surprise(const std::string &what) {
    return {"masks do not do what they should on this GPU and driver (" + what +
                "), so none is used; please report it",
            Exit::not_supported};
}

/// A CUDA context on the GPU, and the kernel in it.
class Runner {
  public:
    explicit Runner(const cuda::Library &cuda) : cuda_(cuda) {}

    Outcome<void> open(const Uuid &uuid) {
        int devices = 0;
        if (const int error = cuda_.call("cuInit", 0U))
            return failed("cuInit", error);
        if (const int error = cuda_.call("cuDeviceGetCount", &devices))
            return failed("cuDeviceGetCount", error);
        int device = -1;
        for (int n = 0; n < devices; n++) {
            Uuid found{};
            if (!cuda_.call("cuDeviceGetUuid_v2", found.data(), n) && found == uuid)
                device = n;
        }
        if (device < 0)
            return fail("CUDA does not show the GPU " + uuid_text(uuid) +
                            ": this container or unit has no access to it, or MIG is on, with "
                            "which it cannot be partitioned this way",
                        Exit::not_supported);
        Handle context = nullptr, module = nullptr;
        for (const auto &[name, error] :
             {std::pair("cuDeviceGetAttribute",
                        cuda_.call("cuDeviceGetAttribute", &sms_, cuda::sm_count, device)),
              std::pair("cuDevicePrimaryCtxRetain",
                        cuda_.call("cuDevicePrimaryCtxRetain", &context, device)),
              std::pair("cuCtxSetCurrent", cuda_.call("cuCtxSetCurrent", context)),
              std::pair("cuModuleLoadData",
                        cuda_.call("cuModuleLoadData", &module, static_cast<const void *>(kernel))),
              std::pair("cuModuleGetFunction",
                        cuda_.call("cuModuleGetFunction", &function_, module, "where")),
              std::pair("cuStreamCreate", cuda_.call("cuStreamCreate", &stream_, 1U)),
              std::pair("cuMemAlloc", cuda_.call("cuMemAlloc_v2", &seen_,
                                                 probed_sms_max * sizeof(std::uint32_t)))})
            if (error)
                return failed(name, error);
        return {};
    }

    int sms() const { return sms_; }
    std::uint64_t launches() const { return launches_; }

    /// Runs the kernel and returns its SMs.
    Outcome<Sms> where() {
        std::array<std::uint32_t, probed_sms_max> seen{};
        if (const int error =
                cuda_.call("cuMemsetD8_v2", seen_, static_cast<unsigned char>(0), sizeof(seen)))
            return failed("cuMemsetD8", error);
        Address array = seen_;
        std::uint64_t ns = 20'000;
        std::array<void *, 2> arguments{&array, &ns};
        const unsigned blocks = 2 * waves * static_cast<unsigned>(sms_);
        if (const int error =
                cuda_.call("cuLaunchKernel", function_, blocks, 1U, 1U, threads, 1U, 1U, 0U,
                           stream_, arguments.data(), static_cast<void **>(nullptr)))
            return failed("cuLaunchKernel", error);
        launches_++;
        const auto end = std::chrono::steady_clock::now() + kernel_timeout;
        for (int state; (state = cuda_.call("cuStreamQuery", stream_));) {
            if (state != cuda::not_ready)
                return failed("the kernel", state);
            if (std::chrono::steady_clock::now() > end)
                return fail(surprise("a kernel did not end"));
            std::this_thread::sleep_for(std::chrono::microseconds(20));
        }
        if (const int error = cuda_.call("cuMemcpyDtoH_v2", static_cast<void *>(seen.data()), seen_,
                                         sizeof(seen)))
            return failed("cuMemcpyDtoH", error);
        Sms sms;
        for (std::uint32_t sm = 0; sm < seen.size(); sm++)
            if (seen[sm])
                sms.push_back(sm);
        return sms;
    }

  private:
    tl::unexpected<Refusal> failed(const std::string &what, int error) const {
        return fail("CUDA does not run a kernel on the GPU: " + what + ": " +
                        cuda::error_text(cuda_, error),
                    Exit::failed);
    }

    const cuda::Library &cuda_;
    Handle function_ = nullptr, stream_ = nullptr;
    Address seen_ = 0;
    int sms_ = 0;
    std::uint64_t launches_ = 0;
};

Bits only(std::uint32_t bit) {
    Bits bits{};
    bits[bit / 32] = 1U << bit % 32;
    return bits;
}

class Probe {
  public:
    Probe(Runner &runner, const Page &page, const Uuid &uuid)
        : runner_(runner), page_(page), uuid_(uuid) {}

    Outcome<std::vector<Tpc>> find_tpcs() {
        const auto all = runner_.where();
        if (!all)
            return fail(all.error());
        if (all->size() != static_cast<std::size_t>(runner_.sms()))
            return fail(surprise("a kernel ran on " + std::to_string(all->size()) + " of " +
                                 std::to_string(runner_.sms()) + " SMs"));
        std::vector<Tpc> tpcs;
        std::map<std::uint32_t, std::uint32_t> bit_of; // the bit of each SM
        for (std::uint32_t bit = 0; bit < bits_max; bit++) {
            const auto left = where(only(bit));
            if (!left)
                return fail(left.error());
            Tpc tpc{bit, {}, 0, 0};
            std::ranges::set_difference(*all, *left, std::back_inserter(tpc.sms));
            for (const std::uint32_t sm : tpc.sms)
                if (!bit_of.emplace(sm, bit).second)
                    return fail(surprise("bits " + std::to_string(bit_of[sm]) + " and " +
                                         std::to_string(bit) + " are both SM " +
                                         std::to_string(sm)));
            if (!tpc.sms.empty())
                tpcs.push_back(std::move(tpc));
        }
        const Slot *const slot = page_.find(uuid_);
        if (!slot || slot->counts.kept != runner_.launches() - 1)
            return fail("launches on this GPU are of a kind that is not known (another "
                        "generation or driver), so it cannot be partitioned",
                        Exit::not_supported);
        if (bit_of.size() != all->size())
            return fail(surprise(std::to_string(all->size() - bit_of.size()) + " SMs have no bit"));
        return tpcs;
    }

    /// Checks masks from large to small parts of the GPU, so that a mask with an unexpected effect
    /// is found before a mask that leaves little.
    Outcome<void> check(const GpuMap &map) {
        std::vector<std::vector<std::uint32_t>> kept;
        const auto count = static_cast<std::uint32_t>(map.tpcs.size());
        const auto every = [&](std::uint32_t step, std::uint32_t first, bool inside) {
            auto &tpcs = kept.emplace_back();
            for (std::uint32_t n = 0; n < count; n++)
                if ((n % step == first % step) == inside)
                    tpcs.push_back(n);
        };
        every(3, 0, false);
        every(2, 0, true);
        every(2, 1, true);
        every(4, 1, true);
        for (const std::uint32_t gpc : gpcs(map))
            kept.push_back(*tpcs_of_gpcs(map, {gpc}));
        kept.push_back({count / 2});
        kept.push_back({0});
        for (const auto &tpcs : kept) {
            if (tpcs.empty())
                continue;
            const auto ran = where(partition_of(map, tpcs).disabled);
            if (!ran)
                return fail(ran.error());
            Sms wanted;
            for (const std::uint32_t n : tpcs)
                wanted.insert(wanted.end(), map.tpcs[n].sms.begin(), map.tpcs[n].sms.end());
            std::ranges::sort(wanted);
            if (*ran != wanted)
                return fail(surprise("a kernel for TPCs " + list_text(tpcs) + " ran on " +
                                     std::to_string(ran->size()) + " SMs, not on the " +
                                     std::to_string(wanted.size()) + " of them"));
        }
        return {};
    }

  private:
    Outcome<Sms> where(const Bits &disabled) {
        Partition partition{uuid_, disabled, {}, 1, 1};
        partition.exists.fill(~0U);
        if (!page_.set(partition))
            return fail("there are too many GPUs", Exit::not_supported);
        return runner_.where();
    }

    Runner &runner_;
    const Page &page_;
    const Uuid uuid_;
};

/// A folder without an MPS server, because under MPS a kernel does not see real SMs (ECRTS 2025,
/// pitfall 5).
constexpr const char *no_mps = "/nonexistent/nvtaskset";

} // namespace

Outcome<GpuMap> probe(const Uuid &uuid, const std::string &pci_address, const std::string &driver,
                      const std::string &library) {
    const auto page = Page::make();
    if (!page)
        return fail(
            std::string("cannot create the memory that nvtaskset shares with CUDA's process: ") +
                std::strerror(errno),
            Exit::failed);
    page->writable()->probes = 1;
    page->writable()->warned = 1; // find_tpcs() checks the counts itself
    const std::string name = page_name_text({getpid(), page->descriptor(), page->inode()});
    setenv(injection_variable, library.c_str(), 1);
    setenv(page_variable, name.c_str(), 1);
    setenv("CUDA_MPS_PIPE_DIRECTORY", no_mps, 1);
    for (const char *variable : {partitions_variable, whole_count_variable, kernels_variable,
                                 "CUDA_VISIBLE_DEVICES", "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE"})
        unsetenv(variable);

    const cuda::Library cuda;
    if (!cuda.loaded())
        return fail("CUDA (libcuda.so.1, part of NVIDIA's driver) is not there",
                    Exit::not_supported);
    Runner runner(cuda);
    if (const auto opened = runner.open(uuid); !opened)
        return fail(opened.error());
    if (!page->state().attached)
        return fail("CUDA does not load " + library +
                        ", or gives it no callbacks; so nothing can be kept to a partition",
                    Exit::failed);
    Probe look(runner, *page, uuid);
    auto tpcs = look.find_tpcs();
    if (!tpcs)
        return fail(tpcs.error());
    const auto places = sm_order(pci_address);
    if (!places)
        return fail(places.error().sentence);
    for (Tpc &tpc : *tpcs)
        for (std::size_t n = 0; n < tpc.sms.size(); n++) {
            if (tpc.sms[n] >= places->size() ||
                places->size() != static_cast<std::size_t>(runner.sms()) ||
                (*places)[tpc.sms[n]].tpc != (*places)[tpc.sms[0]].tpc)
                return fail(surprise("bit " + std::to_string(tpc.bit) +
                                     " is no TPC that the driver knows"));
            tpc.gpc = (*places)[tpc.sms[n]].gpc;
            tpc.cluster_group = (*places)[tpc.sms[n]].cluster_group;
        }
    GpuMap map{uuid, driver, std::move(*tpcs)};
    std::ranges::sort(map.tpcs, {}, [](const Tpc &tpc) { return std::pair(tpc.gpc, tpc.bit); });
    if (const auto checked = look.check(map); !checked)
        return fail(checked.error());
    return map;
}

} // namespace nvtaskset
