# SPDX-License-Identifier: MIT OR GPL-2.0
# Completion of nvdebugctl for bash. The tool itself says what may follow, so that ids are live.
_nvdebugctl() {
	# COMP_WORDS is split at ':', which is part of ids and PCI addresses.
	local line="${COMP_LINE:0:COMP_POINT}" words current prefix
	read -ra words <<<"$line"
	[[ "$line" == *[[:space:]] ]] && words+=("")
	current="${words[-1]}"

	mapfile -t COMPREPLY < <("${words[0]}" __complete -- "${words[@]:1}" 2>/dev/null)
	if [[ "${COMPREPLY[0]}" == '<file>' ]]; then
		mapfile -t COMPREPLY < <(compgen -f -- "$current")
		compopt -o filenames 2>/dev/null
	elif [[ "$current" == *:* && "$COMP_WORDBREAKS" == *:* ]]; then
		prefix="${current%"${current##*:}"}"
		COMPREPLY=("${COMPREPLY[@]#"$prefix"}")
	fi
	return 0
}
complete -F _nvdebugctl nvdebugctl
