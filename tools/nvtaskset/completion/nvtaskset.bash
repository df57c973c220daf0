# SPDX-License-Identifier: MIT OR GPL-2.0
# Completion of nvtaskset for bash: its options and their values, PIDs, then what the command itself completes.
_nvtaskset_gpus() {
	local folder="${NVTASKSET_DRIVER_FOLDER:-/proc/driver/nvidia}/gpus" gpu number=0
	echo all
	for gpu in "$folder"/*; do
		[[ -e "$gpu" ]] && echo "$number" && ((number++))
	done
}
# The option that takes the next word as its value; of joined letters (-xt) the last. Nothing: it takes none.
_nvtaskset_takes() {
	case "$1" in
	--tpcs | --gpcs | --sms | --gpu | --pid | --turn | --cdi | --cdi-folder) echo "$1" ;;
	--*) ;;
	-*) [[ "$1" =~ ^-[^tgsip]*([tgsip])$ ]] && echo "-${BASH_REMATCH[1]}" ;;
	esac
}
_nvtaskset() {
	# COMP_WORDS is split at '=' where COMP_WORDBREAKS has it: '--gpu=1' is then '--gpu', '=', '1'.
	local -a words=() places=()
	local word n
	for ((n = 0; n < ${#COMP_WORDS[@]} && n <= COMP_CWORD; n++)); do
		word="${COMP_WORDS[n]}"
		if ((n > 1)) && [[ "$word" == '=' && "${words[-1]}" == --* ]] ||
			{ ((n > 2)) && [[ "${COMP_WORDS[n - 1]}" == '=' && "${words[-1]}" == --*= ]]; }; then
			words[-1]+="$word"
			places[-1]=$n
		else
			words+=("$word")
			places+=("$n")
		fi
	done
	local current="${words[-1]}" before="${words[-2]}" prefix=
	if [[ "$current" == --*=* ]]; then
		before="${current%%=*}" prefix="${current%%=*}="
		current="${current#*=}"
		# What bash replaces is the last of its own words.
		[[ "$COMP_WORDBREAKS" == *=* ]] && prefix=
	fi
	case "$(_nvtaskset_takes "$before")" in
	-t | --tpcs | -g | --gpcs | -s | --sms | --cdi) return ;;
	--cdi-folder) mapfile -t COMPREPLY < <(compgen -P "$prefix" -d -- "$current"); return ;;
	--turn) mapfile -t COMPREPLY < <(compgen -P "$prefix" -W "1 2 3 4 5 6 7 8 9" -- "$current"); return ;;
	-i | --gpu) mapfile -t COMPREPLY < <(compgen -P "$prefix" -W "$(_nvtaskset_gpus)" -- "$current"); return ;;
	-p | --pid) mapfile -t COMPREPLY < <(compgen -W "$(ps -eo pid=)" -- "$current"); return ;;
	esac
	[[ "${words[-1]}" == --*=* ]] && return
	for ((n = 1; n < ${#words[@]} - 1; n++)); do
		case "${words[n]}" in
		--) ((n++)); break ;;
		-*) [[ "$(_nvtaskset_takes "${words[n]}")" ]] && ((n++)) ;;
		*) break ;;
		esac
	done
	if ((n < ${#words[@]} - 1)); then
		declare -F _command_offset >/dev/null && _command_offset "${places[n]}"
	elif [[ "$current" == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "--tpcs --gpcs --sms --spread --gpu --exclusive --pid --whole --prepare --no-mps --turn
			--best-effort --whole-count --quit-mps --cdi --cdi-folder --check-image --list --probe --json --quiet --help --version" -- "$current")
	else
		mapfile -t COMPREPLY < <(compgen -c -- "$current")
	fi
}
complete -F _nvtaskset nvtaskset
