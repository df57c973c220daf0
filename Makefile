# SPDX-License-Identifier: MIT OR GPL-2.0
# The front door; `make help` lists what there is. Kbuild holds the module's objects.

BUILD := build
VERSION := $(file <VERSION)
PYTHON ?= /usr/bin/python3
JOBS := $(shell nproc)

# What has been compiled once, in whichever folder of this kind, is not compiled again.
ifneq ($(shell command -v ccache),)
export CMAKE_CXX_COMPILER_LAUNCHER ?= ccache
export CCACHE_BASEDIR ?= $(CURDIR)
export CCACHE_NOHASHDIR ?= 1
endif

# The kernel to build `make modules` for: the running one, where its headers are installed.
KDIR ?= /lib/modules/$(shell uname -r)/build
DESTDIR ?=
PREFIX ?= /usr/local
MODULE_DIR ?= /lib/modules/$(shell uname -r)/extra
MAN_DIR ?= /usr/share/man

# The kernel of the VM: Debian's, of the newest headers that are installed; or KERNEL=NAME|FILE, one
# of those in the cache or any vmlinuz-RELEASE (docs/vm.md).
ifeq ($(KERNEL),)
VM_HEADERS ?= $(lastword $(sort $(wildcard /usr/src/linux-headers-*-amd64)))
VM_RELEASE = $(notdir $(VM_HEADERS:/usr/src/linux-headers-%=%))
else
VM_IMAGE := $(if $(findstring /,$(KERNEL)),$(KERNEL),$\
	$(wildcard $(shell scripts/cache-dir)/kernels/$(KERNEL)/boot/vmlinuz-*))
ifeq ($(VM_IMAGE),)
$(error No kernel "$(KERNEL)" in $(shell scripts/cache-dir)/kernels; docs/vm.md says how to make one)
endif
VM_RELEASE := $(patsubst vmlinuz-%,%,$(notdir $(VM_IMAGE)))
VM_HEADERS := $(abspath $(dir $(VM_IMAGE))..)/lib/modules/$(VM_RELEASE)/build
endif

# What runs in a guest of another architecture is cross-compiled, into folders of its own.
GUEST := $(if $(filter %-arm64,$(VM_RELEASE)),-arm64)
GUEST_CC := $(if $(GUEST),aarch64-linux-gnu-gcc,$(CC))

MODULE_SOURCES = $(shell scripts/module-sources)

.PHONY: help
help: ## this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "make %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: deps
deps: ## install the Debian packages that building and testing need
	@scripts/install-deps

# --- the module ---

# $(call kbuild,WHAT,HEADERS,FOLDER,COPY[,-n TOTAL]): builds the modules of a copy, which the
# commands COPY make, so that several kernels and flavours can be built side by side and the source
# tree stays clean. + hands make's jobs on.
define kbuild
	@+scripts/locked $(3) $(1) sh -ec '\
		mkdir -p $(3); $(4); \
		exec scripts/progress $(5) "$$0" $(3)/log scripts/kbuild $(2) $(3) $(NO_BTF) modules' $(1)
endef

# $(call build_module,HEADERS,FOLDER)
define build_module
	@test -d $(1) || { echo "No kernel headers in $(1); give their place with KDIR=" >&2; exit 1; }
	$(call kbuild,"module for $(patsubst linux-headers-%,%,$(notdir $(1:%/build=%)))",$(1),$(2),$\
		cp -pu --parents $(MODULE_SOURCES) $(2),-n $(words $(filter %.c,$(MODULE_SOURCES))))
endef

# Type information of modules needs the kernel's own image, which headers do not bring.
NO_BTF := CONFIG_DEBUG_INFO_BTF_MODULES=

.PHONY: modules
modules: ## build nvdebug.ko for the running kernel (or KDIR=) into build/module
	$(call build_module,$(KDIR),$(BUILD)/module)

.PHONY: load
load: modules ## load the module on this machine (as root)
	@! grep -q '^nvdebug ' /proc/modules || rmmod nvdebug
	insmod $(BUILD)/module/nvdebug.ko $(PARAMS)
	@ls -d /proc/gpu[0-9]* || echo "No NVIDIA GPU found; 'dmesg | tail' says why"

# The module's source as dkms wants it.
DKMS_SOURCE = $(DESTDIR)/usr/src/nvdebug-$(VERSION)

.PHONY: dkms-source
dkms-source: ## install the module's source into /usr/src, for dkms (DESTDIR=)
	@install -d $(DKMS_SOURCE)
	@cp -p --parents $(MODULE_SOURCES) $(DKMS_SOURCE)
	@sed 's/@VERSION@/$(VERSION)/' packaging/dkms.conf.in >$(DKMS_SOURCE)/dkms.conf

.PHONY: dkms
dkms: dkms-source ## build and install the module with dkms, for this kernel and later ones
	dkms install -m nvdebug -v $(VERSION)

.PHONY: unload
unload: ## remove the module again
	rmmod nvdebug

.PHONY: install-module
install-module: modules ## install module and its man page (DESTDIR=, MODULE_DIR=, MAN_DIR=)
	install -D -m 644 $(BUILD)/module/nvdebug.ko $(DESTDIR)$(MODULE_DIR)/nvdebug.ko
	install -D -m 644 docs/man/nvdebug.4 $(DESTDIR)$(MAN_DIR)/man4/nvdebug.4
	@test -n "$(DESTDIR)" || depmod -a

# --- library and tool ---

# Without debug information, which takes a third of the time to build: builds with sanitizers have it.
OPTIMISED := -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS_RELEASE="-O2 -DNDEBUG" \
	-DCMAKE_CXX_FLAGS_RELEASE="-O2 -DNDEBUG"

# $(call configure,FOLDER,ARGUMENTS)
define configure
	@scripts/locked $(1) "configuring $(1)" cmake -S . -B $(1) -G Ninja $(2) >/dev/null
endef

# A build of its own, since the prefix is written into what is installed.
.PHONY: release
release: ## build library and tool as they are installed, into build/release (PREFIX=)
	$(call configure,$(BUILD)/release,$(OPTIMISED) \
		-DCMAKE_INSTALL_PREFIX="$(PREFIX)" -DBUILD_TESTING=OFF)
	$(call cmake_build,$(BUILD)/release,"library and tools",nvdebug nvdebug_static nvstgm_task nvdebugctl nvtaskset nvstgm nvqos nvdebug-exporter slurm_plugin device_plugin)

.PHONY: install
install: release ## install library, headers, tool and its man pages (DESTDIR=, PREFIX=/usr/local)
	@for component in lib dev tool exporter slurm kubernetes; do \
		DESTDIR="$(DESTDIR)" cmake --install $(BUILD)/release --strip --component $$component || exit 1; \
	done
	@test -n "$(DESTDIR)" -o "$$(id -u)" != 0 || ldconfig

.PHONY: docs
docs: ## the library's reference into build/docs, from the headers (takes Doxygen)
	@scripts/install-deps docs
	@mkdir -p $(BUILD)/docs
	@(cat docs/Doxyfile; echo PROJECT_NUMBER=$(VERSION); echo OUTPUT_DIRECTORY=$(BUILD)/docs) | doxygen -

# --- packages ---

.PHONY: package
package: ## build the Debian packages into build/package
	@scripts/install-deps build package
	@scripts/locked $(BUILD)/package "Debian packages" packaging/build

# Programs for other distributions, from the build that `make install` takes.
.PHONY: portable archive
portable:
	$(call configure,$(BUILD)/release,$(OPTIMISED) \
		-DCMAKE_INSTALL_PREFIX="$(PREFIX)" -DBUILD_TESTING=OFF)
	$(call cmake_build,$(BUILD)/release,"programs for other distributions",nvtaskset-portable nvstgm-portable $\
		nvqos-static nvdebugctl-static nvdebug-exporter-static schemas manuals nvstgm nvtaskset nvqos nvdebug-exporter)

archive: portable ## build build/archive/nvdebug-VERSION-x86_64.tar.gz, which runs where it is unpacked
	@scripts/locked $(BUILD)/archive "archive" packaging/archive $(BUILD)/release $(BUILD)/archive

.PHONY: rpm wheel
rpm: archive ## build the rpm of the tools into build/rpm, from the archive (takes rpmbuild)
	@scripts/locked $(BUILD)/rpm "rpm" packaging/make-rpm \
		$(BUILD)/archive/nvdebug-$(VERSION)-$(shell uname -m).tar.gz $(BUILD)/rpm

wheel: portable ## build the Python package nvdebugctl into build/wheel: the tool, and its JSON as dicts
	@scripts/locked $(BUILD)/wheel "wheel" packaging/make-wheel $(BUILD)/release $(BUILD)/wheel

.PHONY: image
image: ## build what packaging/Containerfile makes an image of, into build/image (IMAGE=NAME: makes and pushes it, too)
	$(call configure,$(BUILD)/release,$(OPTIMISED) \
		-DCMAKE_INSTALL_PREFIX="$(PREFIX)" -DBUILD_TESTING=OFF)
	$(call cmake_build,$(BUILD)/release,"the programs of the image",nvqos-static nvdebug nvdebug-exporter device_plugin)
	@scripts/locked $(BUILD)/image "image" packaging/image $(BUILD)/release $(BUILD)/image
	@test -z "$(IMAGE)" || scripts/locked $(BUILD)/image "image" packaging/push-image $(BUILD)/image "$(IMAGE)" $(VERSION)

# --- model and unit tests ---

# $(call cmake_build,FOLDER,WHAT,TARGETS)
define cmake_build
	@scripts/locked $(1) $(2) scripts/progress $(2) $(1)/log cmake --build $(1) --target $(3)
endef

.PHONY: cmake
cmake: $(BUILD)/cmake/build.ninja

$(BUILD)/cmake/build.ninja:
	$(call configure,$(BUILD)/cmake,$(OPTIMISED))

.PHONY: model
model: cmake ## build the GPU model into build/cmake/model
	$(call cmake_build,$(BUILD)/cmake,"GPU model",nvdebug-model)

.PHONY: tool
tool: cmake ## build nvdebugctl, nvtaskset, nvstgm, nvqos and nvdebug-exporter into build/cmake
	$(call cmake_build,$(BUILD)/cmake,"the programs",nvdebugctl nvtaskset nvstgm nvqos nvdebug-exporter)

.PHONY: try
try: cmake ## build nvqos and show it live on a simulated GPU, without root (WORDS='command:train=share:50%')
	$(call cmake_build,$(BUILD)/cmake,"nvqos",nvqos)
	@$(BUILD)/cmake/bin/nvqos --demo $(WORDS) || test $$? = 4 # a goal was not kept

.PHONY: unit
unit: cmake ## build and run the unit tests (minutes; SUBJECT=qos: those of tests/qos alone)
	@test -z "$(SUBJECT)" || ninja -C $(BUILD)/cmake -t query unit-$(SUBJECT) >/dev/null 2>&1 || { \
		echo "No unit tests are about '$(SUBJECT)'; SUBJECT is one of:" \
			$$(ninja -C $(BUILD)/cmake -t targets all | sed -n 's/^unit-\([a-z]*\): .*/\1/p' | sort) >&2; exit 1; }
	$(call cmake_build,$(BUILD)/cmake,"unit tests",unit$(addprefix -,$(SUBJECT)))
	@ctest --test-dir $(BUILD)/cmake --output-on-failure --timeout 1200 -j $(JOBS) $(if $(SUBJECT),-L '^$(SUBJECT)$$')

# What a test needs, by the names of CMake's targets.
.PHONY: programs
programs: cmake
	$(call cmake_build,$(BUILD)/cmake,"$(or $(TARGETS),all programs)",$(or $(TARGETS),all))

# A build of its own: what is installed has no sanitizers. The core's tests always have them.
SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=undefined

.PHONY: sanitize
sanitize: ## the library's unit tests, NVDEBUG_LONG=1 all unit tests, under AddressSanitizer and UBSan
	$(call configure,$(BUILD)/sanitize,-DCMAKE_BUILD_TYPE=Debug \
		-DCMAKE_C_FLAGS_DEBUG="-O1 -g1 $(SANITIZE)" \
		-DCMAKE_CXX_FLAGS_DEBUG="-O1 -g1 $(SANITIZE)")
	$(call cmake_build,$(BUILD)/sanitize,"unit tests with sanitizers",$(if $(NVDEBUG_LONG),all,lib_tests))
	@ctest --test-dir $(BUILD)/sanitize --output-on-failure --timeout 1200 -j $(JOBS) \
		$(if $(NVDEBUG_LONG),-E '^core_tests',-R '^lib_tests')

# gcc 12's warns falsely, and does not start where newer kernels place things: setarch -R.
THREADS := -O1 -g1 -fsanitize=thread -Wno-tsan -Wno-maybe-uninitialized

.PHONY: sanitize-threads
sanitize-threads: ## the unit tests of the parts over NVIDIA's driver, and of nvqos, under ThreadSanitizer
	$(call configure,$(BUILD)/sanitize-threads,-DCMAKE_BUILD_TYPE=Debug \
		-DCMAKE_C_FLAGS_DEBUG="$(THREADS)" -DCMAKE_CXX_FLAGS_DEBUG="$(THREADS)")
	$(call cmake_build,$(BUILD)/sanitize-threads,"unit tests with ThreadSanitizer",driver_tests nvqos_tests)
	@setarch -R ctest --test-dir $(BUILD)/sanitize-threads --output-on-failure -j $(JOBS) \
		-R '^driver_tests'
	@setarch -R $(BUILD)/sanitize-threads/tests/qos/nvqos_tests --gtest_brief=1 \
		--gtest_filter='Kept*:Hanging*:Meanwhile*' # those in simulated time

# --- fuzzing ---

# $(call fuzz_build,FOLDER,FLAGS): builds of their own, by the compiler that has libFuzzer.
define fuzz_build
	$(call configure,$(1),-DCMAKE_C_COMPILER=clang-14 -DCMAKE_CXX_COMPILER=clang++-14 \
		-DNVDEBUG_FUZZ=ON -DNVDEBUG_UNITY=OFF -DBUILD_TESTING=OFF -DCMAKE_BUILD_TYPE=Debug \
		-DCMAKE_C_FLAGS_DEBUG="$(2)" -DCMAKE_CXX_FLAGS_DEBUG="$(2)")
	$(call cmake_build,$(1),"fuzz targets",fuzz_targets)
endef

.PHONY: fuzz-build
fuzz-build:
	@scripts/install-deps build fuzz
	$(call fuzz_build,$(BUILD)/fuzz,-O1 -g1 -fsanitize=fuzzer-no-link $(SANITIZE))

.PHONY: fuzz
fuzz: fuzz-build ## fuzz decoders, parsers, the core and the model, FUZZ_SECONDS (300) each
	@tests/fuzz/run long

.PHONY: fuzz-short
fuzz-short: fuzz-build ## the same for seconds: a fixed number of runs each
	@tests/fuzz/run short

.PHONY: fuzz-coverage
fuzz-coverage: ## which lines of what is fuzzed the inputs found so far reach, by source file
	@scripts/install-deps build fuzz
	$(call fuzz_build,$(BUILD)/fuzz-coverage,-O1 -fsanitize=fuzzer-no-link \
		-fprofile-instr-generate -fcoverage-mapping)
	@tests/fuzz/run coverage

# --- the VM ---

.PHONY: vm vm-kernel vm-module vm-init vm-guest
vm: model vm-kernel vm-module vm-guest ## build all that vm/run needs (KERNEL=)
vm-kernel: $(if $(KERNEL),,$(BUILD)/kernel/$(VM_RELEASE))
$(BUILD)/kernel/%:
	@scripts/locked $@ "kernel $*" sh -ec 'test -e $@ || vm/fetch release $* $@'

vm-module:
	$(call build_module,$(VM_HEADERS),$(BUILD)/kmod/$(VM_RELEASE))

# What shows real GPUs.
.PHONY: vm-bridge
vm-bridge: cmake
	$(call cmake_build,$(BUILD)/cmake,"bridge",nvdebug-bridge)

# The module that boards of SoCs take.
.PHONY: vm-glue
vm-glue:
	$(call kbuild,"the VM's module",$(VM_HEADERS),$(BUILD)/vm-modules/$(VM_RELEASE),$\
		cp -pu vm/modules/* $(BUILD)/vm-modules/$(VM_RELEASE))

vm-init: $(BUILD)/vm$(GUEST)/init
vm-guest: vm-init $(if $(GUEST),,vm-tool)
$(BUILD)/vm$(GUEST)/init: vm/guest/init.c
	$(call make_file,$@,$<,$(GUEST_CC) -O2 -Wall -Wextra -Werror -static -o $@ $<)

# $(call make_file,FILE,FROM,COMMAND): unless another build has made it meanwhile.
define make_file
	@mkdir -p $(dir $(1))
	@scripts/locked $(1) $(1) sh -ec 'test $(1) -nt $(2) || $(3)'
endef

# Stripped, as debug information is nine tenths of it, and the guest keeps its files in memory.
.PHONY: vm-tool
vm-tool: cmake
	$(call cmake_build,$(BUILD)/cmake,"nvdebugctl for the VM",nvdebugctl-static)
	$(call make_file,$(BUILD)/vm/nvdebugctl,$(BUILD)/cmake/bin/nvdebugctl-static,$\
		strip -o $(BUILD)/vm/nvdebugctl $(BUILD)/cmake/bin/nvdebugctl-static)

.PHONY: pictures
pictures: tool ## make docs/pictures anew: what nvdebugctl shows, in the VM, gangs and clocks
	@scripts/install-deps build pictures
	@docs/pictures/make
	@docs/pictures/make-gangs $(BUILD)/cmake/bin/nvqos
	@docs/pictures/make-clocks $(BUILD)/cmake/bin/nvdebugctl

.PHONY: demo
demo: deps ## the main job on a modelled GTX 1060, in a VM
	@vm/demo

# --- the lab ---

.PHONY: lab
lab: lab-programs ## the papers' rules as experiments: a replay and on the GPU model, or on this machine's GPU (GPU=1, as root; NAMES=)
	@lab/run $(if $(GPU),--gpu) $(NAMES)
	$(if $(GPU)$(NAMES),,@NVDEBUG_NO_BUILD=1 lab/quotas/figures && lab/papers)

.PHONY: llm
llm: ## an LLM engine beside other work, on this machine's GPU, as root, in 20 minutes (INTO=, LLM=words for it): docs/llm.md
	@tests/hardware/run qos_llm $(if $(INTO),--into $(INTO)) -- --budget 1200 --seeds 1,2 --output 3,5 $(LLM)

.PHONY: lab-programs
lab-programs: cmake
	$(call cmake_build,$(BUILD)/cmake,"the lab's programs and nvdebugctl",instrument lab-model nvdebugctl quota-engine)

.PHONY: quota-engine
quota-engine: cmake
	$(call cmake_build,$(BUILD)/cmake,"the engine of quotas",quota-engine)

.PHONY: quota-replay
quota-replay: cmake
	$(call cmake_build,$(BUILD)/cmake,"the quota machine",quota-replay)

# --- tests ---

.PHONY: kselftest
kselftest: ## build the guest's test programs (KERNEL=)
	@+scripts/locked $(BUILD)/kselftest$(GUEST) "the guest's test programs" \
		scripts/progress "the guest's test programs" $(BUILD)/kselftest$(GUEST)/log \
		$(MAKE) --no-print-directory -C tests/module/kselftest CC=$(GUEST_CC) OUTPUT=$(abspath $(BUILD)/kselftest$(GUEST))

# Modules that tests load beside ours.
.PHONY: vm-test-modules
vm-test-modules: vm-glue
	$(call kbuild,"test modules",$(VM_HEADERS),$(BUILD)/test-modules/$(VM_RELEASE),$\
		cp -pu tests/module/test_modules/* $(BUILD)/test-modules/$(VM_RELEASE); $\
		cp -pu --parents module/compat/* $(BUILD)/test-modules/$(VM_RELEASE))

# A modelled GPU's files, as the module's core prints them in a process, for tests.
.PHONY: core-tree
core-tree: cmake
	$(call cmake_build,$(BUILD)/cmake,"what prints files in a process",core_tree)

.PHONY: check check-ci check-all
check: ## the tests: unit tests, programs, and the module in a VM
	@scripts/check quick

check-ci: ## what check leaves out: packages, sanitizers, fuzzing, other compilers, kernels, QEMUs and architectures
	@scripts/check ci

check-all: export NVDEBUG_LONG := 1
check-all: check check-ci ## both with every combination of boards and cases (hours)

.PHONY: times
times: ## where the time of the last check went: compilation, tests, boots of VMs, steps
	@scripts/times

.PHONY: debug-kernels
debug-kernels: ## build the kernels "debug" and "kcsan" into the cache, if they are not up to date
	@scripts/debug-kernel debug
	@scripts/debug-kernel kcsan

.PHONY: check-debug
check-debug: deps ## the module's tests on KERNELS, debug and kcsan (an hour; FILES=, PYTEST=)
	@KERNELS="$(or $(filter debug kcsan,$(KERNELS)),debug kcsan)" FILES="$(FILES)" \
		scripts/check-debug $(PYTEST)

.PHONY: check-bare
check-bare: ## the README's commands on a bare Debian 12, in a folder (hours; COMMAND=demo|check|ci|TARGET)
	@scripts/check-bare $(COMMAND)

# A quarter of the seeds for each version of page tables, on a kernel that marks memory which is
# not initialised or already freed.
SEEDS ?= 10000

.PHONY: bitflip
bitflip: vm kselftest ## corrupt runlists, contexts and page tables SEEDS (10,000) times, and read them
	vm/run --timeout 3600 --append slub_debug=FPZ \
		--board gtx980 --workload fig6 --board titan-v --workload fig7 \
		--board h200 --workload fig7 --board rtx5090 --workload page-tables \
		--file $(BUILD)/kselftest/proc_corrupt -- \
		/root/proc_corrupt --first 1 --last $$(($(SEEDS) / 4))

.PHONY: check-vfio-user
check-vfio-user: deps vm kselftest vm-test-modules ## the module with a newer QEMU: real BARs, two processors at once
	@scripts/check-vfio-user

.PHONY: check-arm64
check-arm64: deps ## the module on arm64
	@scripts/check-arm64

.PHONY: check-kubernetes
check-kubernetes: ## packaging/kubernetes against Kubernetes' published types (npm, kubectl and the network)
	@scripts/check-kubernetes

# Each with gcc and clang, as far as there is time: an hour or so on 2 cores.
KERNELS ?= 5.10 6.1 6.12 7
COMPILERS ?= gcc clang

.PHONY: check-kernels
check-kernels: ## build and test the module on KERNELS, from 5.10 to the newest, with COMPILERS
	@scripts/install-deps build folder clang
	@KERNELS="$(KERNELS)" COMPILERS="$(COMPILERS)" scripts/check-kernels $(PYTEST)

.PHONY: coccicheck
coccicheck: ## the kernel's semantic patches on the module (minutes)
	@scripts/install-deps coccicheck
	@scripts/coccicheck

.PHONY: mutate
mutate: deps ## change one thing at a time: does a test notice? (AREA=core or programs, FILES='*', COUNT=, SEED=1)
	@scripts/mutate --area $(or $(AREA),core) --files '$(or $(FILES),*)' $(if $(COUNT),--count $(COUNT)) \
		--seed $(or $(SEED),1) --jobs $(JOBS)

.PHONY: hostile
hostile: vm kselftest vm-test-modules ## let the GPU fail at every access of every file (hours; BOARDS=, POINTS=, TESTS=, WORKLOAD=)
	@scripts/hostile

# The same boards as in tests/module/test_stress.py. For a debug kernel, KERNEL=debug or KERNEL=kcsan.
SEED ?= 1
ROUNDS ?= 400
CALLS ?= 20000
STRESS_VM = vm/run --no-build $(if $(KERNEL),--kernel $(KERNEL)) --timeout 14400 \
	--board gtx980 --board titan-v --board h200

.PHONY: stress
stress: vm kselftest vm-test-modules ## readers, writers, hot-unplug and reloads at once (SEED=, ROUNDS=400, KERNEL=)
	$(STRESS_VM) --strict --file $(BUILD)/kselftest/proc_versions \
		--file $(BUILD)/test-modules/$(VM_RELEASE)/pcigpu.ko -- \
		"insmod /root/pcigpu.ko && /root/proc_versions --rounds $$(($(ROUNDS) / 20 + 1))"
	$(STRESS_VM) --strict --file $(BUILD)/kselftest/proc_walks -- /root/proc_walks
	$(STRESS_VM) --strict --file $(BUILD)/kselftest/proc_stress -- \
		/root/proc_stress --seed $(SEED) --rounds $(ROUNDS)

.PHONY: fuzz-guest
fuzz-guest: vm kselftest ## system calls at random, with faults and hot-unplug (SEED=, CALLS=20000, KERNEL=)
	$(STRESS_VM) --file $(BUILD)/kselftest/proc_fuzz -- \
		/root/proc_fuzz --seed $(SEED) --calls $(CALLS)

.PHONY: sweep
sweep: cmake ## simulated gangs at random: where windows do harm (SEEDS="1 400"; minutes)
	$(call cmake_build,$(BUILD)/cmake,"the sweep",gangs_sweep)
	@$(BUILD)/cmake/tests/simulation/gangs_sweep $(SEEDS)

.PHONY: bench
bench: deps ## what reading costs, on the model and a GPU that is there (PARTS=, JSON=FILE; minutes)
	@tests/bench/run $(PARTS) $(if $(JSON),--json $(JSON))

.PHONY: bench-programs
bench-programs: model vm-guest $(BUILD)/bench/pace
	$(call cmake_build,$(BUILD)/cmake,benchmarks,core_costs lib_parse model_accesses driver_calls recorder_cost nvdebugctl nvqos_stand_in)
$(BUILD)/bench/pace: tests/bench/pace.c
	$(call make_file,$@,$<,$(GUEST_CC) -O2 -Wall -Wextra -Werror -static -o $@ $<)

.PHONY: lint
lint: deps ## words, spelling, linters; compiler warnings, sparse and checkpatch on the module
	@scripts/install-deps lint
	@scripts/lint

.PHONY: tidy
tidy: deps ## clang-tidy on all C++ (an hour)
	@scripts/install-deps lint
	@scripts/tidy

.PHONY: format
format: ## format all C++ and Python
	@scripts/install-deps lint
	@scripts/format

.PHONY: clean
clean: ## remove everything built, except the VM's kernel
	rm -rf $(BUILD)/module $(BUILD)/kmod $(BUILD)/cmake $(BUILD)/vm $(BUILD)/kselftest \
		$(BUILD)/vm-modules $(BUILD)/test-modules $(BUILD)/package $(BUILD)/release $(BUILD)/docs \
		$(BUILD)/archive $(BUILD)/rpm $(BUILD)/wheel $(BUILD)/image $(BUILD)/kubernetes \
		$(BUILD)/sanitize $(BUILD)/sanitize-threads $(BUILD)/tidy $(BUILD)/times $(BUILD)/fuzz $(BUILD)/fuzz-coverage $(BUILD)/bench
