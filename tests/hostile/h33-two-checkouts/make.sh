#!/usr/bin/env bash
# main is checked out in two places: in DIR/repo, and in DIR/second by worktree add --force.
. "$(dirname "$0")/../lib.sh"
mk_repo "$DIR/repo"; git -C "$DIR/repo" worktree add -q --force "$DIR/second" main
