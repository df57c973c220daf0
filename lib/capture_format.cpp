// SPDX-License-Identifier: MIT OR GPL-2.0
#include "capture_format.hpp"
#include "errno_name.hpp"
#include "text.hpp"

#include <cerrno>
#include <nlohmann/json.hpp>

namespace nvdebug {
namespace {

using Json = nlohmann::json;

constexpr const char *format = "nvdebug-capture";
constexpr int version = 1;

Error no_capture(const std::string &path, const std::string &why) {
    return {ErrorCode::malformed, 0, path,
            path + " is no capture: " + why + "; make one with 'nvdebugctl capture FILE'"};
}

/** Strings by name; what is not a string is an addition and skipped. */
std::map<std::string, std::string> strings(const Json &capture, const char *key) {
    std::map<std::string, std::string> found;
    const auto object = capture.find(key);
    if (object != capture.end() && object->is_object())
        for (const auto &[name, value] : object->items())
            if (value.is_string())
                found.emplace(name, value.get_ref<const std::string &>());
    return found;
}

} // namespace

std::string to_json(const CaptureContent &content) {
    Json errors = Json::object();
    for (const auto &[name, number] : content.errors)
        errors[name] = errno_name(number);
    const Json capture = {{"format", format},
                          {"version", version},
                          {"facts", content.facts},
                          {"files", content.files},
                          {"errors", errors}};
    return capture.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<CaptureContent> capture_from_json(const std::string &json, const std::string &path) {
    // Nothing of ours lies deeper; dropped at once, so that hostile nesting takes no memory.
    const auto shallow = [](int depth, Json::parse_event_t, Json &) { return depth <= 2; };
    const Json capture = Json::parse(json, shallow, false);
    if (!capture.is_object())
        return tl::unexpected(no_capture(path, "it is no JSON object, or was cut off"));
    if (capture.value("format", Json()) != format)
        return tl::unexpected(no_capture(path, "'format' is not 'nvdebug-capture'"));
    if (capture.value("version", Json()) != version)
        return tl::unexpected(Error{ErrorCode::unsupported, 0, path,
                                    path + " is a capture of a version that this library does not "
                                           "read (it reads 1); use a newer one"});
    CaptureContent content;
    content.facts = strings(capture, "facts");
    content.files = strings(capture, "files");
    for (const auto &[name, error] : strings(capture, "errors")) {
        const int number = errno_of_name(error);
        if (!number)
            return tl::unexpected(
                no_capture(path, "the error of '" + text::quote(name) + "' is no errno"));
        content.errors.emplace(name, number);
    }
    return content;
}

} // namespace nvdebug
