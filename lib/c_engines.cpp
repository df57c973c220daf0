// SPDX-License-Identifier: MIT OR GPL-2.0
#include "c_api.hpp"
#include "nvdebug/answers.hpp"
#include "text.hpp"

struct nvd_engines {
    std::vector<nvdebug::Engine> engines;
};

using namespace nvdebug;

nvd_error *nvd_engines_read(const nvd_gpu *gpu, nvd_engines **ret) {
    return c::guarded([&] { return c::hand_over(gpu->gpu.engines(), ret); }, gpu, ret);
}

void nvd_engines_destroy(nvd_engines *engines) {
    delete engines;
}

size_t nvd_engines_count(const nvd_engines *engines) {
    return engines->engines.size();
}

nvd_error *nvd_engines_get(const nvd_engines *engines, size_t n, nvd_engine *ret) {
    return c::guarded(
        [&] {
            if (n >= engines->engines.size())
                return c::invalid(
                    "there are not as many engines; nvd_engines_count() says how many");
            const Engine &from = engines->engines[n];
            nvd_engine engine{};
            c::copy_string(from.name, engine.name);
            c::copy_string(from.type, engine.type);
            engine.instance = from.instance;
            engine.runlist = c::number_of(from.runlist);
            engine.engine_id = c::number_of(from.engine_id);
            engine.pri_base = c::number_of(from.pri_base);
            return c::copy_out(engine, ret);
        },
        engines, ret);
}

nvd_error *nvd_engines_share_runlist(const nvd_engines *engines, const char *a, const char *b,
                                     int *ret) {
    return c::guarded(
        [&]() -> nvd_error * {
            const Engine *found[2] = {};
            for (std::size_t n = 0; n < 2; n++) {
                const char *const name = n ? b : a;
                found[n] = find_engine(engines->engines, name);
                if (!found[n])
                    return c::error_of({ErrorCode::not_found, 0, "",
                                        "there is no engine '" + text::quote(name) +
                                            "'; device_info lists those there are"});
            }
            *ret = share_runlist(*found[0], *found[1]);
            return nullptr;
        },
        engines, a, b, ret);
}
