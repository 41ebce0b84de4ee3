#!/bin/sh
# Copies the runtime files of an image to a folder that becomes part of its root. Usage: docker/pack.sh FOLDER cpu|cuda
set -eu
root="$1"
provider="$2"
cd "$(dirname "$0")/.."
arch=$(node -p process.arch)

mkdir -p "$root/app/native/build/Release" "$root/app/.cache" "$root/usr/local/bin"
cp "$(realpath "$(command -v bun)")" "$root/usr/local/bin/bun"
cp -r LICENSE README.md bunfig.toml bun.lock package.json docker docs models plugins scripts src web "$root/app/"
cp native/build/Release/*.node "$root/app/native/build/Release/"
mkdir "$root/app/tools"
cp -r tools/simulate-call tools/trace-check "$root/app/tools/"
cp -r .cache/console "$root/app/.cache/"

cd "$root/app"
bun install --frozen-lockfile --production
find src plugins models tools web \( -name '*.test.ts' -o -name '*.test.tsx' \) -delete

# Optional peer dependencies: compilers and type declarations.
rm -rf node_modules/typescript node_modules/@typescript node_modules/@rollup node_modules/@types
# Native addons for musl.
find node_modules -name '*.musl.node' -delete

# Remove native libraries of other platforms (ONNX Runtime) and other GPU types (llama.cpp).
cd node_modules
find onnxruntime-node/bin/napi-v6 -mindepth 2 -maxdepth 2 ! -path "*/linux/$arch" -exec rm -r {} +
for llama in @fugood/node-llama-*; do
  case "$llama" in
    *-linux-"$arch") ;;
    *-linux-"$arch"-"$provider") ;;
    *) rm -r "$llama" ;;
  esac
done
