// SPDX-License-Identifier: MIT OR GPL-2.0
#include "identity.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace nvdebugctl {
namespace {

std::vector<Field> keys() {
    return {{"container", "id of the container that its cgroup names; null: none", "string?"},
            {"pod", "uid of the Kubernetes pod that its cgroup names; null: none", "string?"},
            {"job", "number of the Slurm job that its cgroup names; null: none", "string?"},
            {"step", "step of that job: a number, batch, extern or interactive; null: none",
             "string?"}};
}

} // namespace

Json identity(const nvdebug::Identity &id) {
    const auto or_null = [](const std::optional<std::string> &text) {
        return text ? Json(*text) : Json();
    };
    return {{"container", or_null(id.container)},
            {"pod", or_null(id.pod)},
            {"job", or_null(id.job)},
            {"step", or_null(id.step)}};
}

const std::vector<Field> &pod_name_keys() {
    static const std::vector<Field> keys = {
        {"namespace", "namespace of the pod, by the names of kubelet's files; null: not known",
         "string?"},
        {"pod_name", "name of the pod; null: not known", "string?"},
        {"container_name", "name of the container in the pod; null: not known", "string?"}};
    return keys;
}

void set_pod_name(Json &row, const std::optional<nvdebug::base::PodName> &name) {
    row["namespace"] = name ? Json(name->name_space) : Json();
    row["pod_name"] = name ? Json(name->pod) : Json();
    row["container_name"] = name && !name->container.empty() ? Json(name->container) : Json();
}

nvdebug::Identity pod_ids_of(const Json &row) {
    const auto text = [&](const char *key) {
        return row[key].is_null() ? std::nullopt : std::optional(row[key].get<std::string>());
    };
    return {.container = text("container"), .pod = text("pod")};
}

std::vector<Column> columns_with_identity(std::vector<Column> columns) {
    auto at = std::ranges::find(columns, "cgroup", &Column::name);
    for (const Field &key : keys())
        at = columns.insert(at, {key.name, key.help, key.type, false}) + 1;
    return columns;
}

std::vector<Field> fields_with_identity(std::vector<Field> fields) {
    auto at = std::ranges::find(fields, "cgroup", &Field::name);
    for (const Field &key : keys())
        at = fields.insert(at, key) + 1;
    return fields;
}

} // namespace nvdebugctl
