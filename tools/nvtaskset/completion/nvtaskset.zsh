#compdef nvtaskset
# SPDX-License-Identifier: MIT OR GPL-2.0
_nvtaskset_gpus() {
	local -a places=("${NVTASKSET_DRIVER_FOLDER:-/proc/driver/nvidia}"/gpus/*(N)) names=(all)
	local number
	for ((number = 0; number < ${#places}; number++)); do
		names+=($number)
	done
	compadd -a names
}
_nvtaskset() {
	_arguments -s -S \
		'(-t --tpcs)'{-t+,--tpcs=}'[these TPCs]:TPCs: ' \
		'(-g --gpcs)'{-g+,--gpcs=}'[all TPCs of these GPCs]:GPCs: ' \
		'(-s --sms)'{-s+,--sms=}'[so many SMs, or percent]:SMs: ' \
		--spread'[some of each GPC, instead of whole ones]' \
		'(-i --gpu)'{-i+,--gpu=}'[on this GPU]:GPU:_nvtaskset_gpus' \
		'(-x --exclusive)'{-x,--exclusive}'[none that another task has]' \
		'(-p --pid)'{-p,--pid}'[a task that runs]:PID:_pids' \
		'--whole[the whole GPU again]' \
		'--prepare[the whole GPU; TPCs can be set later]' \
		'--no-mps[tasks take turns]' \
		'--turn=[at the same time as others of this turn]:turn:(1 2 3 4 5 6 7 8 9)' \
		'--whole-count[the program sees the number of SMs of the GPU]' \
		'--best-effort[let processes go on that cannot be kept]' \
		'--quit-mps[end the MPS servers]' \
		'--cdi=[a device for containers]:name: ' \
		'--cdi-folder=[where its file is written]:folder:_directories' \
		'--check-image[check an image (a hook of container runtimes)]' \
		'(-l --list)'{-l,--list}'[TPCs, and who has them]' \
		'--probe[find out again]' \
		'(-j --json)'{-j,--json}'[JSON]' \
		'(-q --quiet)'{-q,--quiet}'[errors only]' \
		'(-h --help)'{-h,--help}'[help]' \
		'(-V --version)'{-V,--version}'[version]' \
		'*::command:_normal'
}
if [[ "${funcstack[1]}" == _nvtaskset ]]; then
	_nvtaskset "$@"
else
	compdef _nvtaskset nvtaskset
fi
