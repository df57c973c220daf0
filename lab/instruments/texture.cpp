// SPDX-License-Identifier: MIT OR GPL-2.0
// Texture uploads by OpenGL, without a display: EGL and GL of glvnd's libraries, looked up at run
// time. Numbers are of Khronos' published headers.
#include "instruments.hpp"
#include "spans.hpp"

#include <array>
#include <cstdio>
#include <dlfcn.h>
#include <unistd.h>

namespace lab {

namespace {

void *library() {
    static void *const found = dlopen("libEGL.so.1", RTLD_NOW);
    if (!found)
        fail("there is no libEGL.so.1 (Debian: libegl1), which textures take: " +
             std::string(dlerror()));
    return found;
}

template <typename Result, typename... Arguments>
Result egl(const char *name, Arguments... arguments) {
    void *const function = dlsym(library(), name);
    if (!function)
        fail(std::string("libEGL.so.1 has no ") + name);
    return reinterpret_cast<Result (*)(Arguments...)>(function)(arguments...);
}

template <typename... Arguments>
void gl(const char *name, Arguments... arguments) {
    void *const function = egl<void *>("eglGetProcAddress", name);
    if (!function)
        fail(std::string("this OpenGL has no ") + name);
    reinterpret_cast<void (*)(Arguments...)>(function)(arguments...);
}

constexpr unsigned texture_2d = 0x0de1, rgba = 0x1908, rgba8 = 0x8058, byte_type = 0x1401,
                   unpack_buffer = 0x88ec, pack_buffer = 0x88eb, stream_draw = 0x88e0,
                   stream_read = 0x88e1, static_draw = 0x88e4, copy_read_buffer = 0x8f36,
                   copy_write_buffer = 0x8f37, opengl = 0x30a2;
const void *const of_buffer = nullptr;

/** Makes a context on the first GPU of NVIDIA's EGL, and makes it current. */
void make_context() {
    using Query = unsigned (*)(int, void **, int *);
    std::array<void *, 16> devices{};
    int count = 0;
    const auto query =
        reinterpret_cast<Query>(egl<void *>("eglGetProcAddress", "eglQueryDevicesEXT"));
    if (!query || !query(static_cast<int>(devices.size()), devices.data(), &count) || !count)
        fail("EGL knows no GPU (is libEGL_nvidia's JSON file in __EGL_VENDOR_LIBRARY_FILENAMES?)");
    constexpr unsigned platform_device = 0x313f;
    for (int n = 0; n < count; n++) {
        const auto get = reinterpret_cast<void *(*)(unsigned, void *, const int *)>(
            egl<void *>("eglGetProcAddress", "eglGetPlatformDisplayEXT"));
        void *const display =
            get(platform_device, devices.at(static_cast<std::size_t>(n)), nullptr);
        if (!display || !egl<unsigned>("eglInitialize", display, static_cast<int *>(nullptr),
                                       static_cast<int *>(nullptr)))
            continue;
        const std::array<int, 5> wanted{0x3033, 1, 0x3040, 8,
                                        0x3038}; // surface: pbuffer; renderable: OpenGL
        void *config = nullptr;
        int configs = 0;
        egl<unsigned>("eglBindAPI", opengl);
        egl<unsigned>("eglChooseConfig", display, wanted.data(), &config, 1, &configs);
        void *const context =
            egl<void *>("eglCreateContext", display, config, static_cast<void *>(nullptr),
                        static_cast<const int *>(nullptr));
        void *const none = nullptr;
        if (context && egl<unsigned>("eglMakeCurrent", display, none, none, context))
            return;
    }
    fail("no GPU gives an OpenGL context");
}

} // namespace

void textures(Options &options) {
    const std::uint64_t ms = options.number("ms", 500, longest_ms);
    const auto side = static_cast<int>(options.number("side", 2048, 16'384));
    const std::string how = options.text("how", "pbo");
    options.none_left();
    const std::ptrdiff_t bytes = std::ptrdiff_t{4} * side * side, none = 0;
    const std::vector<char> pixels(static_cast<std::size_t>(bytes), 'p');
    const void *const here = pixels.data();
    make_context();
    unsigned texture = 0;
    gl("glGenTextures", 1, &texture);
    gl("glBindTexture", texture_2d, texture);
    gl("glTexImage2D", texture_2d, 0, static_cast<int>(rgba8), side, side, 0, rgba, byte_type,
       of_buffer);
    const auto buffer = [&](unsigned target, unsigned usage) {
        unsigned made = 0;
        gl("glGenBuffers", 1, &made);
        gl("glBindBuffer", target, made);
        gl("glBufferData", target, bytes, of_buffer, usage);
    };
    if (how == "pbo")
        buffer(unpack_buffer, stream_draw);
    else if (how == "down")
        buffer(pack_buffer, stream_read);
    else if (how == "buffer" || how == "copy") {
        buffer(copy_read_buffer, stream_draw);
        buffer(copy_write_buffer, static_draw);
    } else if (how != "client")
        fail("how=" + how + ": pbo, client, buffer, copy or down is expected");
    const auto once = [&] {
        if (how == "down")
            gl("glGetTexImage", texture_2d, 0, rgba, byte_type, const_cast<void *>(of_buffer));
        else if (how == "buffer")
            gl("glBufferSubData", copy_write_buffer, none, bytes, here);
        else if (how == "copy")
            gl("glCopyBufferSubData", copy_read_buffer, copy_write_buffer, none, none, bytes);
        else
            gl("glTexSubImage2D", texture_2d, 0, 0, 0, side, side, rgba, byte_type,
               how == "pbo" ? of_buffer : here);
        gl("glFinish");
    };
    const Spans spans = repeat(ms, once);
    std::printf("{\"instrument\": \"textures\", \"pid\": %d, \"bytes\": %td, \"spans\": ", getpid(),
                bytes);
    print(spans);
    std::printf("}\n");
}

} // namespace lab
