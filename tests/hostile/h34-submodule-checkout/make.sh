#!/usr/bin/env bash
# DIR/repo is the checkout of a submodule of DIR/super.
. "$(dirname "$0")/../lib.sh"
mk_repo "$DIR/library"; mkdir "$DIR/super"; cd "$DIR/super"
git init -q -b main; git -c protocol.file.allow=always submodule --quiet add ../library kit; git commit -q -m "Take the library in"
ln -s super/kit "$DIR/repo"
