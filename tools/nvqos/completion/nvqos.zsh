#compdef nvqos
# SPDX-License-Identifier: MIT OR GPL-2.0
_nvqos() {
	local -a found
	found=("${(@f)$(nvqos __complete "${(@)words[2,$CURRENT]}" 2>/dev/null)}")
	found=(${found:#})
	if (( $#found )); then
		compadd -- $found
	else
		_files
	fi
}
_nvqos "$@"
