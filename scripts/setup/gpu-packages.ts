/**
 * Installs the packages for NVIDIA GPUs, which need about 500 MB: the CUDA build of llama.cpp, locked in `gpu/bun.lock`, and
 * the CUDA provider of ONNX Runtime, which its npm package does not contain, from the Python wheel of the same version.
 */

import { existsSync } from 'node:fs';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { readMembers } from '../../src/models/archive.ts';
import { fetchWithClient } from '../../src/models/package-source.ts';

/**
 * The wheel with the CUDA provider. The provider accepts exactly this version of ONNX Runtime. Wheels for different versions of
 * Python differ, so one of them is selected.
 */
export const ONNX_WHEEL = {
  ecosystem: 'pypi',
  name: 'onnxruntime-gpu',
  version: '1.30.0',
  wheel: { python: '3.12', platform: 'manylinux_2_28_x86_64' },
} as const;
export const ONNX_WHEEL_SHA256 = '6acc0f4b3d5ac5f2984432faa59dd8fcce6775f8b43a7140afa0f322c7a703b1';
const PROVIDERS = ['libonnxruntime_providers_cuda.so', 'libonnxruntime_providers_shared.so'];
const WHEEL_FOLDER = 'onnxruntime/capi';
/** The CUDA provider has about 400 MB. */
const MAX_LIBRARY_BYTES = 2 ** 30;

/**
 * Installs the packages that are missing.
 * @param root folder of the checkout, with installed packages.
 * @throws Error if a package cannot be installed.
 */
export async function installGpuPackages(root: string, signal: AbortSignal): Promise<void> {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    throw new Error(`There are no GPU packages for ${process.platform}-${process.arch}; allowed: linux-x64.`);
  }
  await installLlama(join(root, 'gpu'), signal);
  await installOnnxProviders(join(root, 'node_modules/onnxruntime-node'), signal);
}

async function installLlama(folder: string, signal: AbortSignal): Promise<void> {
  const install = Bun.spawn([process.execPath, 'install', '--frozen-lockfile', '--ignore-scripts'], {
    cwd: folder,
    stdin: 'ignore',
    stdout: process.stderr.fd,
    stderr: 'inherit',
    signal,
  });
  const exitCode = await install.exited;
  signal.throwIfAborted();
  if (exitCode !== 0) throw new Error(`Installing the packages of ${folder} failed (exit code ${exitCode}).`);
}

async function installOnnxProviders(onnxRuntime: string, signal: AbortSignal): Promise<void> {
  const folder = join(onnxRuntime, 'bin/napi-v6/linux/x64');
  if (PROVIDERS.every((name) => existsSync(join(folder, name)))) return;
  const scratch = await mkdtemp(join(folder, '.partial-'));
  try {
    const wheel = await fetchWithClient(ONNX_WHEEL, scratch, signal);
    await requireSha256(wheel, ONNX_WHEEL_SHA256);
    const limits = new Map(PROVIDERS.map((name) => [`${WHEEL_FOLDER}/${name}`, MAX_LIBRARY_BYTES]));
    for (const [member, library] of await readMembers(wheel, 'zip', limits)) {
      // Renamed, so that an interrupted installation leaves no incomplete library.
      const partial = join(scratch, basename(member));
      await writeFile(partial, library);
      await rename(partial, join(folder, basename(member)));
    }
  } finally {
    await rm(scratch, { recursive: true });
  }
}

/** @throws Error if the file has another SHA-256. */
async function requireSha256(path: string, sha256: string): Promise<void> {
  const hash = new Bun.CryptoHasher('sha256');
  for await (const chunk of Bun.file(path).stream()) hash.update(chunk);
  const actual = hash.digest('hex');
  if (actual !== sha256) throw new Error(`${basename(path)} has the SHA-256 ${actual}, expected ${sha256}.`);
}
