#!/usr/bin/env bash
# The user's own configuration (DIR/gitconfig, for GIT_CONFIG_GLOBAL) has opinions: signing, hooks that fail, line ends, colours.
. "$(dirname "$0")/../lib.sh"
mk_repo "$DIR/repo"; mkdir "$DIR/hooks"
for hook in pre-commit prepare-commit-msg commit-msg post-commit pre-push post-checkout post-index-change reference-transaction; do
  printf '#!/bin/sh\necho "%s in $PWD" >> "%s/hooks-that-ran.txt"\nexit 1\n' $hook "$DIR" > "$DIR/hooks/$hook"; chmod +x "$DIR/hooks/$hook"
done
sed -i "s#^exit 1#case \$PWD in '$DIR/repo'*) exit 0 ;; esac; exit 1#" "$DIR/hooks/reference-transaction"
printf '* text=auto\n' > "$DIR/attributes"
cat > "$DIR/gitconfig" <<P
[user]
	useConfigOnly = true
	signingKey = ABCDEF
[commit]
	gpgSign = true
[gpg]
	program = false
[push]
	gpgSign = if-asked
	followTags = true
	recurseSubmodules = on-demand
	default = nothing
[core]
	hooksPath = $DIR/hooks
	attributesFile = $DIR/attributes
	autocrlf = input
	fsmonitor = true
	pager = false
[color]
	ui = always
[column]
	ui = always
[status]
	branch = true
	showStash = true
	relativePaths = true
[safe]
	bareRepository = explicit
[fetch]
	pruneTags = true
	fsckObjects = true
	recurseSubmodules = true
[clone]
	rejectShallow = true
	defaultRemoteName = upstream
[receive]
	denyCurrentBranch = refuse
[diff]
	external = false
	noprefix = true
[feature]
	manyFiles = true
P
git -C "$DIR/repo" tag -m "a tag to follow" v1
