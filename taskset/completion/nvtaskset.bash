# SPDX-License-Identifier: MIT OR GPL-2.0
# Completion of nvtaskset for bash: its options, PIDs, then what the command itself completes.
_nvtaskset() {
	local current="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}" word
	case "$before" in
	-t | --tpcs | -g | --gpcs | -s | --sms | --turn) return ;;
	-i | --gpu) mapfile -t COMPREPLY < <(compgen -W "all 0 1 2 3 4 5 6 7" -- "$current"); return ;;
	-p | --pid) mapfile -t COMPREPLY < <(compgen -W "$(ps -eo pid=)" -- "$current"); return ;;
	esac
	for ((word = 1; word < COMP_CWORD; word++)); do
		case "${COMP_WORDS[word]}" in
		-t | --tpcs | -g | --gpcs | -s | --sms | -i | --gpu | --turn) ((word++)) ;;
		-*) ;;
		*) declare -F _command_offset >/dev/null && _command_offset "$word"; return ;;
		esac
	done
	if [[ "$current" == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "--tpcs --gpcs --sms --spread --gpu --exclusive --pid --whole --prepare --no-mps --turn
			--best-effort --whole-count --quit-mps --list --probe --json --quiet --help --version" -- "$current")
	else
		mapfile -t COMPREPLY < <(compgen -c -- "$current")
	fi
}
complete -F _nvtaskset nvtaskset
