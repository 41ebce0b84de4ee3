#!/bin/sh
# Copies the runtime files of an image to a folder that becomes part of its root. Usage: docker/pack.sh FOLDER
set -eu
root="$1"
cd "$(dirname "$0")/.."

mkdir -p "$root/app/native/build/Release" "$root/app/.cache" "$root/usr/local/bin"
cp "$(realpath "$(command -v bun)")" "$root/usr/local/bin/bun"
cp native/package.json "$root/app/native/"
cp -r LICENSE README.md bunfig.toml bun.lock package.json docker docs packages plugins scripts server src web "$root/app/"
cp native/build/Release/*.node "$root/app/native/build/Release/"
mkdir "$root/app/tools"
cp -r tools/simulate-call tools/trace-check "$root/app/tools/"
cp -r .cache/console "$root/app/.cache/"

cd "$root/app"
bun install --frozen-lockfile --production --filter voice-service
find src server plugins packages tools web scripts \( -name '*.test.ts' -o -name '*.test.tsx' \) -delete
rm -rf packages/*/testing

# Optional peer dependencies: compilers and type declarations.
rm -rf node_modules/typescript node_modules/@typescript node_modules/@rollup node_modules/@types
bun scripts/setup/trim-packages.ts node_modules
