#compdef nvdebugctl
# SPDX-License-Identifier: MIT OR GPL-2.0
# Completion of nvdebugctl for zsh. The tool itself lists the candidates, so that ids are live.
_nvdebugctl() {
	local -a found
	found=("${(@f)$("${words[1]}" __complete -- "${(@)words[2,CURRENT-1]}" "$PREFIX" 2>/dev/null)}")
	if [[ "${found[1]}" == '<nvtaskset>'* ]]; then
		shift "${found[1]#*>}" words
		(( CURRENT -= ${found[1]#*>} ))
		words[1]=nvtaskset
		_normal
	elif [[ "${found[-1]}" == '<file>' ]]; then
		found[-1]=()
		(( $#found )) && compadd -Q -- "${found[@]}"
		compset -P '--*='
		_files
	elif [[ -n "${found[1]}" ]]; then
		compadd -Q -- "${found[@]}"
	fi
}
if [[ "${funcstack[1]}" == _nvdebugctl ]]; then
	_nvdebugctl "$@"
else
	compdef _nvdebugctl nvdebugctl
fi
