#!/usr/bin/env bash
# A bare repository whose pre-receive hook refuses pushes to main, as a hosting service does with a protected branch.
. "$(dirname "$0")/../lib.sh"
mk_repo "$DIR/tmp"; git clone -q --bare "$DIR/tmp" "$DIR/repo.git"; git -C "$DIR/repo.git" remote remove origin; rm -rf "$DIR/tmp"
cat > "$DIR/repo.git/hooks/pre-receive" <<'P'
#!/bin/sh
while read -r old new ref; do
  [ "$ref" != refs/heads/main ] || { echo "GH006: Protected branch update failed for $ref: changes must be made through a pull request." >&2; exit 1; }
done
P
chmod +x "$DIR/repo.git/hooks/pre-receive"
