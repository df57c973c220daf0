// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The services that kubelet calls: DRAPlugin, v1 and v1beta1, and its registration of plugins.
#pragma once

#include <functional>
#include <grpcpp/impl/service_type.h>
#include <memory>
#include <string>

#include "dra_claims.hpp"

namespace nvdebug::kubernetes {

/// Returns the service of kubelet 1.34 and newer. @p claims must outlive it.
[[nodiscard]] std::unique_ptr<grpc::Service> make_dra_service(Claims &claims);
/// Returns the same service by the name that kubelet 1.32 and 1.33 call.
[[nodiscard]] std::unique_ptr<grpc::Service> make_older_dra_service(Claims &claims);

/// Returns the service by which kubelet learns of the driver.
/// @param endpoint the socket of the services above
/// @param registered called when kubelet has registered the driver, which it does after each start
[[nodiscard]] std::unique_ptr<grpc::Service>
make_registration_service(std::string endpoint, std::function<void()> registered);

} // namespace nvdebug::kubernetes
