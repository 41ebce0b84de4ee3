#!/bin/sh
# Puts what an image runs into a folder that is laid over its root. Usage: docker/pack.sh FOLDER cpu|cuda
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

# Optional peers of packages: compilers, and types for them.
rm -rf node_modules/typescript node_modules/@typescript node_modules/@rollup node_modules/@types
# Addons for another C library.
find node_modules -name '*.musl.node' -delete

# ONNX Runtime brings its libraries for every platform, llama.cpp's package those for every kind of processor.
cd node_modules
find onnxruntime-node/bin/napi-v6 -mindepth 2 -maxdepth 2 ! -path "*/linux/$arch" -exec rm -r {} +
for llama in @fugood/node-llama-*; do
  case "$llama" in
    *-linux-"$arch") ;;
    *-linux-"$arch"-"$provider") ;;
    *) rm -r "$llama" ;;
  esac
done
