#compdef nvstgm
# SPDX-License-Identifier: MIT OR GPL-2.0
_nvstgm() {
	local -a found
	found=("${(@f)$(nvstgm __complete "${(@)words[2,$CURRENT]}" 2>/dev/null)}")
	found=(${found:#})
	if (( $#found )); then
		compadd -- $found
	else
		_files
	fi
}
_nvstgm "$@"
