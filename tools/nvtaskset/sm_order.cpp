// SPDX-License-Identifier: MIT OR GPL-2.0
// Source of NV2080_CTRL_CMD_GR_GET_GLOBAL_SM_ORDER: NVIDIA's open-gpu-kernel-modules,
// src/common/sdk/nvidia/inc/ctrl/ctrl2080/ctrl2080gr.h. The number of fields of an SM has grown
// with versions of the driver.
#include "sm_order.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "lib/driver/kernel.hpp"
#include "lib/driver/rm.hpp"

namespace nvtaskset {
namespace {

using nvdebug::Error;
using nvdebug::ErrorCode;
namespace driver = nvdebug::driver;
namespace rm = driver::rm;

constexpr std::uint32_t device_handle = 1, subdevice_handle = 2;
constexpr std::uint32_t get_sm_order = 0x2080121b;
constexpr std::size_t sms_max = 512;
constexpr std::size_t most_fields = 12, fewest_fields = 5;
// The first fields of an SM are gpcId, localTpcId, localSmId, globalTpcId and virtualGpcId.
enum Field : std::size_t { gpc = 0, tpc = 3, cluster_group = 4 };

/// A descriptor that the destructor closes.
struct Node {
    driver::Kernel &kernel;
    int descriptor;
    ~Node() {
        if (descriptor >= 0)
            kernel.close(descriptor);
    }
};

Error refused(const std::string &pci_address, std::uint32_t status) {
    return {ErrorCode::unsupported, EOPNOTSUPP, "",
            "NVIDIA's driver does not show which SM is in which GPC of " + pci_address +
                " (status " + std::to_string(status) + ")"};
}

/// Requests of a client of the driver's about one GPU.
class GpuClient {
  public:
    GpuClient(driver::Kernel &system, const driver::Client &client)
        : kernel_(system), client_(client) {}

    /// Returns the driver's status, or ~0 if the driver cannot be asked.
    std::uint32_t ask(std::uint32_t object, std::uint32_t command, void *params,
                      std::size_t bytes) const {
        const auto answer = driver::ask_rm(kernel_, client_.descriptor(), client_.handle(), object,
                                           command, params, bytes);
        return answer.error ? ~0U : answer.status;
    }

    /// Makes the GPU's objects device_handle and subdevice_handle. Returns the driver's status,
    /// or ~0.
    std::uint32_t make_objects(std::uint32_t gpu_id) const {
        rm::IdInfo id{};
        id.gpu_id = gpu_id;
        if (const auto status = ask(client_.handle(), rm::IdInfo::command, &id, sizeof(id)))
            return status;
        rm::DeviceParams device{};
        device.device = id.device;
        rm::SubdeviceParams subdevice{id.subdevice};
        if (const auto status =
                make(client_.handle(), device_handle, rm::class_device, &device, sizeof(device)))
            return status;
        return make(device_handle, subdevice_handle, rm::class_subdevice, &subdevice,
                    sizeof(subdevice));
    }

  private:
    std::uint32_t make(std::uint32_t parent, std::uint32_t object, std::uint32_t which,
                       void *params, std::size_t bytes) const {
        rm::Alloc alloc{client_.handle(),
                        parent,
                        object,
                        which,
                        reinterpret_cast<std::uintptr_t>(params),
                        0,
                        static_cast<std::uint32_t>(bytes),
                        0,
                        0};
        const int error =
            kernel_.ioctl(client_.descriptor(), rm::request(rm::esc_alloc, sizeof(alloc)), &alloc);
        return error ? ~0U : alloc.status;
    }

    driver::Kernel &kernel_;
    const driver::Client &client_;
};

/// Asks for the order of SMs. The driver takes requests of a single size, which depends on its
/// version, so each size is tried.
nvdebug::Result<std::vector<SmPlace>> ask_order(const GpuClient &client,
                                                const std::string &pci_address) {
    std::uint32_t status = 0;
    for (std::size_t fields = most_fields; fields >= fewest_fields; fields--) {
        constexpr std::size_t route_bytes = 16; // NV2080_CTRL_GR_ROUTE_INFO with no route
        const std::size_t table = sms_max * fields;
        std::vector<std::uint16_t> answer((table * 2 + 4 + 7) / 8 * 4 + route_bytes / 2);
        status = client.ask(subdevice_handle, get_sm_order, answer.data(), answer.size() * 2);
        if (status)
            continue;
        const std::size_t sms = answer[table];
        if (!sms || sms > sms_max)
            return tl::unexpected(refused(pci_address, 0));
        std::vector<SmPlace> places;
        for (std::size_t sm = 0; sm < sms; sm++) {
            const std::uint16_t *const at = &answer[sm * fields];
            places.push_back({at[gpc], at[cluster_group], at[tpc]});
        }
        return places;
    }
    return tl::unexpected(refused(pci_address, status));
}

} // namespace

nvdebug::Result<std::vector<SmPlace>> sm_order(const std::string &pci_address) {
    const auto kernel = driver::running_kernel();
    const auto client = driver::Client::open(kernel);
    if (!client)
        return tl::unexpected(client.error());
    const auto cards = (*client)->cards();
    if (!cards)
        return tl::unexpected(cards.error());
    const auto card = std::ranges::find(*cards, pci_address, &driver::Card::pci_address);
    if (card == cards->end())
        return tl::unexpected(Error{ErrorCode::not_found, ENODEV, "",
                                    "NVIDIA's driver has no GPU at " + pci_address});
    // The driver takes requests about a GPU only from a process that has the GPU open.
    const Node node{*kernel, kernel->open("/dev/nvidia" + std::to_string(card->minor))};
    const GpuClient asked(*kernel, **client);
    if (const auto status = asked.make_objects(card->gpu_id))
        return tl::unexpected(refused(pci_address, status));
    return ask_order(asked, pci_address);
}

} // namespace nvtaskset
