/**
 * Removes files of installed packages that this machine cannot use:
 *
 * - native libraries for other platforms. npm selects packages by platform, but ONNX Runtime has the libraries of all
 *   platforms in one package, the llama.cpp package for Linux on arm64 is also installed on x64, and addons for musl come
 *   with those for glibc;
 * - source maps, which nothing reads: Bun does not map stack traces of packages.
 *
 * `bun scripts/setup/trim-packages.ts FOLDER` trims that `node_modules` folder. This module loads no packages.
 */

import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Platform } from './platform.ts';

const ONNX_RUNTIME = 'onnxruntime-node/bin';
const LLAMA = '@node-llama-cpp';
const SOURCE_MAP = /\.(?:[cm]?[jt]s|css)\.map$/;
const MUSL_ADDON = /\.musl\.node$/;

/**
 * Removes these files from a `node_modules` folder. Removing them again does nothing.
 * @throws Error when a file cannot be removed.
 */
export function trimPackages(nodeModules: string, { os, cpu }: Pick<Platform, 'os' | 'cpu'>): void {
  // onnxruntime-node/bin/napi-v6/linux/x64
  for (const abi of foldersIn(join(nodeModules, ONNX_RUNTIME))) {
    for (const folder of foldersIn(abi)) {
      if (!folder.endsWith(`/${os}`)) remove(folder);
      else
        foldersIn(folder)
          .filter((path) => !path.endsWith(`/${cpu}`))
          .forEach(remove);
    }
  }
  // @node-llama-cpp/linux-x64, @node-llama-cpp/mac-arm64-metal
  const build = `/${os === 'darwin' ? 'mac' : os}-${cpu}`;
  foldersIn(join(nodeModules, LLAMA))
    .filter((path) => !`${path}-`.includes(`${build}-`))
    .forEach(remove);
  for (const path of readdirSync(nodeModules, { recursive: true, encoding: 'utf8' })) {
    if (SOURCE_MAP.test(path) || MUSL_ADDON.test(path)) remove(join(nodeModules, path));
  }
}

function foldersIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => join(folder, entry.name));
}

function remove(path: string): void {
  rmSync(path, { recursive: true });
}

if (import.meta.main) {
  const [folder] = process.argv.slice(2);
  if (folder === undefined) throw new Error('Usage: bun scripts/setup/trim-packages.ts FOLDER');
  trimPackages(folder, { os: process.platform, cpu: process.arch });
}
