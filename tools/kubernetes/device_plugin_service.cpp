// SPDX-License-Identifier: MIT OR GPL-2.0
#include "device_plugin_service.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lib/base/goal_device.hpp"
#include "lib/base/printable.hpp"
#include "proto/device_plugin.grpc.pb.h"

namespace nvdebug::kubernetes {
namespace {

namespace fs = std::filesystem;

constexpr const char *kind = "nvdebug.io/gpu-percent";
/// The key by which containerd and CRI-O take CDI devices of a kubelet without the field.
constexpr const char *cdi_annotation = "cdi.k8s.io/nvdebug.io_gpu-percent";

grpc::Status refused(const std::string &sentence) {
    return {grpc::StatusCode::FAILED_PRECONDITION, sentence};
}

std::vector<std::string> strings(const google::protobuf::RepeatedPtrField<std::string> &field) {
    return {field.begin(), field.end()};
}

v1beta1::ListAndWatchResponse listed(const std::vector<StockOfGpu> &gpus, unsigned units) {
    v1beta1::ListAndWatchResponse response;
    for (const StockOfGpu &gpu : gpus)
        for (unsigned number = 0; number < units; number++) {
            v1beta1::Device &device = *response.add_devices();
            device.set_id(Unit{gpu.uuid, number}.name());
            device.set_health(number < gpu.healthy ? "Healthy" : "Unhealthy");
            if (gpu.numa_node)
                device.mutable_topology()->add_nodes()->set_id(*gpu.numa_node);
        }
    return response;
}

class DevicePlugin final : public v1beta1::DevicePlugin::Service {
  public:
    DevicePlugin(Stock &stock, Gifts gifts, std::atomic<int> &streams)
        : stock_(stock), gifts_(std::move(gifts)), streams_(streams) {}

    grpc::Status GetDevicePluginOptions(grpc::ServerContext *, const v1beta1::Empty *,
                                        v1beta1::DevicePluginOptions *options) override {
        options->set_pre_start_required(true);
        options->set_get_preferred_allocation_available(true);
        return grpc::Status::OK;
    }

    grpc::Status ListAndWatch(grpc::ServerContext *context, const v1beta1::Empty *,
                              grpc::ServerWriter<v1beta1::ListAndWatchResponse> *writer) override {
        // A call that kubelet has ended is noticed after this time.
        constexpr std::chrono::milliseconds patience{500};
        streams_++;
        for (std::uint64_t sent = 0; !context->IsCancelled(); stock_.wait(sent, patience)) {
            const std::uint64_t version = stock_.version();
            if (version == sent)
                continue;
            sent = version;
            if (!writer->Write(listed(stock_.gpus(), stock_.units())))
                break;
        }
        streams_--;
        return grpc::Status::OK;
    }

    grpc::Status GetPreferredAllocation(grpc::ServerContext *,
                                        const v1beta1::PreferredAllocationRequest *request,
                                        v1beta1::PreferredAllocationResponse *response) override {
        for (const auto &one : request->container_requests()) {
            const auto count = static_cast<std::size_t>(std::max(one.allocation_size(), 0));
            const auto names = preferred_units(
                {strings(one.available_deviceids()), strings(one.must_include_deviceids()), count},
                stock_.units());
            if (!names)
                return refused(names.error());
            auto &answer = *response->add_container_responses();
            for (const std::string &name : *names)
                answer.add_deviceids(name);
        }
        return grpc::Status::OK;
    }

    grpc::Status Allocate(grpc::ServerContext *, const v1beta1::AllocateRequest *request,
                          v1beta1::AllocateResponse *response) override {
        for (const auto &one : request->container_requests()) {
            const auto portion = portion_of(strings(one.devices_ids()), stock_.units());
            if (!portion)
                return refused(portion.error());
            if (const std::string why = why_not_kept(portion->gpu); !why.empty())
                return refused(fmt::format("{} % of {} cannot be kept now: {}", portion->percent,
                                           base::printable(portion->gpu), base::printable(why)));
            const auto device = written_device(*portion);
            if (!device)
                return {grpc::StatusCode::INTERNAL, device.error()};
            give(*device, portion->gpu, *response->add_container_responses());
        }
        return grpc::Status::OK;
    }

    /// Writes the device again. kubelet calls Allocate once in the life of a pod, also if the node
    /// starts again meanwhile and has lost its files in /run.
    grpc::Status PreStartContainer(grpc::ServerContext *,
                                   const v1beta1::PreStartContainerRequest *request,
                                   v1beta1::PreStartContainerResponse *) override {
        // The container may have had its units before the plugin was started with fewer ones.
        const auto portion = portion_of(strings(request->devices_ids()), most_units);
        if (!portion)
            return refused(portion.error());
        const auto device = written_device(*portion);
        return device ? grpc::Status::OK : grpc::Status(grpc::StatusCode::INTERNAL, device.error());
    }

  private:
    /// Returns why no unit of the GPU is healthy; empty: some are.
    std::string why_not_kept(const std::string &uuid) const {
        const auto gpus = stock_.gpus();
        const auto gpu = std::ranges::find(gpus, uuid, &StockOfGpu::uuid);
        return gpu == gpus.end() ? "nvqos does not list this GPU" : gpu->why;
    }

    /// Writes the device of such a container, and returns its name.
    OrSentence<std::string> written_device(const Portion &portion) const {
        const base::GoalDevice goal{.goal = fmt::format("share:{}%", portion.percent),
                                    .gpus = {portion.gpu},
                                    .socket = gifts_.socket,
                                    .program = gifts_.nvqos,
                                    .tenant = tenant_prefix,
                                    .kind = kind};
        if (!base::is_device_name(goal.name()))
            return tl::unexpected(
                fmt::format("'{}' cannot be the name of a device", base::printable(goal.name())));
        const base::ContainerDevice device = goal.device();
        return base::write_device(device, gifts_.cdi_folder).map([&] {
            return device.whole_name();
        });
    }

    void give(const std::string &device, const std::string &gpu,
              v1beta1::ContainerAllocateResponse &response) const {
        std::vector<std::string> devices;
        if (gifts_.visible == Gifts::Visible::cdi)
            devices.push_back("nvidia.com/gpu=" + gpu);
        devices.push_back(device);
        for (const std::string &name : devices)
            response.add_cdi_devices()->set_name(name);
        // Runtimes that take both leave out the same device of the annotation.
        (*response.mutable_annotations())[cdi_annotation] =
            fmt::format("{}", fmt::join(devices, ","));
        if (gifts_.visible == Gifts::Visible::envvar)
            (*response.mutable_envs())["NVIDIA_VISIBLE_DEVICES"] = gpu;
    }

    Stock &stock_;
    const Gifts gifts_;
    std::atomic<int> &streams_;
};

} // namespace

void remove_unused_devices(const std::string &cdi_folder) {
    constexpr std::chrono::hours longest_unused{24};
    std::error_code error;
    for (const fs::directory_entry &entry : fs::directory_iterator(cdi_folder, error)) {
        const std::string name = entry.path().filename();
        if (!name.starts_with("nvdebug.io-gpu-percent-share-") || !name.ends_with(".json"))
            continue;
        const auto written = entry.last_write_time(error);
        if (!error && fs::file_time_type::clock::now() - written > longest_unused)
            fs::remove(entry.path(), error);
    }
}

std::unique_ptr<grpc::Service> make_service(Stock &stock, Gifts gifts, std::atomic<int> &streams) {
    return std::make_unique<DevicePlugin>(stock, std::move(gifts), streams);
}

} // namespace nvdebug::kubernetes
