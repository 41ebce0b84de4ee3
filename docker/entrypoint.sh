#!/bin/sh
# Fetches the models that are missing, then becomes the service, so that signals reach it.
set -eu
cd /app
# The first process of a container ends by no signal that it does not await.
bun scripts/models.ts fetch >&2 &
fetching=$!
trap 'kill -TERM $fetching; wait $fetching || :; exit 143' TERM INT
wait $fetching
trap - TERM INT
exec bun src/main.ts
