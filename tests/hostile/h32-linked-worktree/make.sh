#!/usr/bin/env bash
# DIR/repo is a linked worktree of DIR/origin: its .git is a file.
. "$(dirname "$0")/../lib.sh"
mk_repo "$DIR/origin" trunk; git -C "$DIR/origin" worktree add -q -b main "$DIR/repo"
