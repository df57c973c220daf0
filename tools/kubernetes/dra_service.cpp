// SPDX-License-Identifier: MIT OR GPL-2.0
#include "dra_service.hpp"

#include <fmt/format.h>
#include <utility>

#include "lib/base/printable.hpp"
#include "proto/dra.grpc.pb.h"
#include "proto/dra_v1beta1.grpc.pb.h"
#include "proto/plugin_registration.grpc.pb.h"

namespace nvdebug::kubernetes {
namespace {

namespace dra = k8s::io::kubelet::pkg::apis::dra::v1;
namespace older_dra = k8s::io::kubelet::pkg::apis::dra::v1beta1;

ClaimId id_of(const dra::Claim &claim) {
    return {.space = claim.namespace_(), .name = claim.name(), .uid = claim.uid()};
}

void add_device(dra::NodePrepareResourceResponse &to, const PreparedDevice &from) {
    dra::Device &device = *to.add_devices();
    // `gpu/large` is an alternative of the request `gpu`, and containers name the request.
    const std::string &request = from.device.request;
    device.add_request_names(request.substr(0, request.find('/')));
    device.set_pool_name(from.device.pool);
    device.set_device_name(from.device.device);
    if (!from.device.share_id.empty())
        device.set_share_id(from.device.share_id);
    for (const std::string &id : from.cdi_ids)
        device.add_cdi_device_ids(id);
}

/// Both versions have the same messages. Each claim has an answer of its own, so that one that
/// fails keeps no other back.
template <typename Base>
class DraService final : public Base {
  public:
    explicit DraService(Claims &claims) : claims_(claims) {}

    grpc::Status NodePrepareResources(grpc::ServerContext * /*context*/,
                                      const dra::NodePrepareResourcesRequest *request,
                                      dra::NodePrepareResourcesResponse *response) override {
        for (const dra::Claim &claim : request->claims()) {
            dra::NodePrepareResourceResponse &answer = (*response->mutable_claims())[claim.uid()];
            const auto devices = claims_.prepare(id_of(claim));
            if (!devices) {
                log(devices.error());
                answer.set_error(devices.error());
                continue;
            }
            for (const PreparedDevice &device : *devices)
                add_device(answer, device);
        }
        return grpc::Status::OK;
    }

    grpc::Status NodeUnprepareResources(grpc::ServerContext * /*context*/,
                                        const dra::NodeUnprepareResourcesRequest *request,
                                        dra::NodeUnprepareResourcesResponse *response) override {
        for (const dra::Claim &claim : request->claims()) {
            dra::NodeUnprepareResourceResponse &answer = (*response->mutable_claims())[claim.uid()];
            if (const auto released = claims_.unprepare(id_of(claim)); !released) {
                log(released.error());
                answer.set_error(released.error());
            }
        }
        return grpc::Status::OK;
    }

  private:
    Claims &claims_;
};

class RegistrationService final : public pluginregistration::Registration::Service {
  public:
    RegistrationService(std::string endpoint, std::function<void()> registered)
        : endpoint_(std::move(endpoint)), registered_(std::move(registered)) {}

    grpc::Status GetInfo(grpc::ServerContext * /*context*/,
                         const pluginregistration::InfoRequest * /*request*/,
                         pluginregistration::PluginInfo *info) override {
        info->set_type("DRAPlugin");
        info->set_name(driver_name);
        info->set_endpoint(endpoint_);
        info->add_supported_versions("v1.DRAPlugin");
        info->add_supported_versions("v1beta1.DRAPlugin");
        return grpc::Status::OK;
    }

    grpc::Status NotifyRegistrationStatus(
        grpc::ServerContext * /*context*/, const pluginregistration::RegistrationStatus *status,
        pluginregistration::RegistrationStatusResponse * /*response*/) override {
        if (status->plugin_registered()) {
            log(fmt::format("kubelet has registered {}", driver_name));
            registered_();
        } else {
            log(fmt::format("kubelet does not register {}: {}", driver_name,
                            base::printable(status->error())));
        }
        return grpc::Status::OK;
    }

  private:
    const std::string endpoint_;
    const std::function<void()> registered_;
};

} // namespace

std::unique_ptr<grpc::Service> make_dra_service(Claims &claims) {
    return std::make_unique<DraService<dra::DRAPlugin::Service>>(claims);
}

std::unique_ptr<grpc::Service> make_older_dra_service(Claims &claims) {
    return std::make_unique<DraService<older_dra::DRAPlugin::Service>>(claims);
}

std::unique_ptr<grpc::Service> make_registration_service(std::string endpoint,
                                                         std::function<void()> registered) {
    return std::make_unique<RegistrationService>(std::move(endpoint), std::move(registered));
}

} // namespace nvdebug::kubernetes
