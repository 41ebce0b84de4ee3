#!/bin/sh
# Fetches what is missing, then becomes the service, so that signals reach it.
set -eu
cd /app
bun scripts/setup.ts
exec bun src/main.ts
