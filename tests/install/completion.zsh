# completion.zsh - prints how lines stand in an interactive zsh after the tabulator key, with the completion that is installed.
#   usage: zsh -f completion.zsh FOLDER LINE...
# SPDX-License-Identifier: MIT
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "PS1= fpath=($1 \$fpath); autoload -U compinit; compinit -u -D; unsetopt zle_bracketed_paste prompt_cr prompt_sp
show() { zle -I; print -r -- \"<\$BUFFER>\"; BUFFER= }; zle -N show; bindkey '^X' show; print READ''Y"
zpty -r shell said '*READY*'
shift
for line; do
    zpty -w -n shell "$line"$'\t\x18'
    zpty -r shell said '*<*>*'
    print -r -- "${${said##*<}%%>*}"
done
