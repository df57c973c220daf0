// SPDX-License-Identifier: MIT OR GPL-2.0
#include "json_envelope.hpp"

#include <cstring>

#include "json_types.hpp"

namespace nvdebugctl {
namespace {

constexpr const char *schema_version = "1.0";

Json source(const Context &context) {
    if (!context.has_tree())
        return nullptr;
    const nvdebug::Tree &tree = context.tree();
    const auto captured = tree.facts().find("captured_at");
    const bool is_capture = !tree.facts().empty();
    return {{"kind", tree.live()  ? "live"
                     : is_capture ? "capture"
                                  : "folder"},
            {"path", tree.path()},
            {"captured_at", captured == tree.facts().end() ? Json() : Json(captured->second)}};
}

Json gpu(const Context &context) {
    if (!context.has_gpu())
        return nullptr;
    const auto info = context.gpu().info();
    return {{"pci_address", info ? or_null(info->pci_address) : Json()},
            {"index", context.gpu().index()},
            {"chip", info ? or_null(info->chip) : Json()},
            {"generation", info ? or_null(info->generation) : Json()}};
}

Json errors(const std::vector<nvdebug::Error> &missing) {
    Json list = Json::array();
    for (const nvdebug::Error &error : missing)
        list.push_back(error_to_json(error));
    return list;
}

Json head(const Context *context) {
    return {{"schema", context && context->command().json ? "nvdebug/" + context->command().schema()
                                                          : "nvdebug/error"},
            {"schema_version", schema_version},
            {"tool", "nvdebugctl " NVDEBUGCTL_VERSION},
            {"source", context ? source(*context) : Json()},
            {"gpu", context ? gpu(*context) : Json()},
            {"missing", context ? errors(context->missing()) : Json::array()}};
}

} // namespace

Json error_to_json(const nvdebug::Error &error) {
    const char *const name = error.number ? strerrorname_np(error.number) : nullptr;
    return {{"code", nvdebug::name_of(error.code)},
            {"errno", name ? Json(name) : Json()},
            {"path", error.path.empty() ? Json() : Json(error.path)},
            {"message", error.sentence}};
}

Json envelope(const Context &context, const Json &data) {
    Json document = head(&context);
    document["data"] = data;
    return document;
}

Json error_document(const Context *context, const Failure &failure) {
    Json document = head(context);
    document["error"] = error_to_json(failure.error);
    if (failure.exit == bad_usage)
        document["error"]["code"] = "usage";
    return document;
}

std::string to_text(const Json &document, bool pretty) {
    return document.dump(pretty ? 2 : -1, ' ', false, Json::error_handler_t::replace) + '\n';
}

} // namespace nvdebugctl
