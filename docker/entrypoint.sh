#!/bin/sh
# Downloads missing models, then replaces itself with the service, which receives signals directly.
set -eu
cd /app
# PID 1 ignores signals without a handler.
bun scripts/models.ts fetch >&2 &
download=$!
trap 'kill -TERM $download; wait $download || :; exit 143' TERM INT
wait $download
trap - TERM INT
exec bun server/main.ts
