// SPDX-License-Identifier: MIT OR GPL-2.0
// A library for CUDA_INJECTION64_PATH, which sets a variable when it is loaded.
#include <cstdlib>

extern "C" [[gnu::visibility("default")]] int InitializeInjection() {
    setenv("STAND_IN_INJECTED", "yes", 1);
    return 0;
}
