// SPDX-License-Identifier: MIT OR GPL-2.0
// A library as CUDA_INJECTION64_PATH may name one: it leaves a trace in the environment.
#include <cstdlib>

extern "C" [[gnu::visibility("default")]] int InitializeInjection() {
    setenv("STAND_IN_INJECTED", "yes", 1);
    return 0;
}
