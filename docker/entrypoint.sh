#!/bin/sh
# Fetches the models that are missing, then becomes the service, so that signals reach it.
set -eu
cd /app
bun scripts/models.ts fetch >&2
exec bun src/main.ts
