/**
 * Installs the packages for NVIDIA GPUs, which need about 500 MB: the CUDA build of llama.cpp, locked in `gpu/bun.lock`, and
 * the CUDA provider of ONNX Runtime, which its npm package does not contain, from the Python wheel of the same version.
 */

import { existsSync } from 'node:fs';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { readMembers } from '../../models/archive.ts';
import { fetchWithClient } from '../../models/package-source.ts';

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
  const { version } = await Bun.file(join(onnxRuntime, 'package.json')).json();
  const scratch = await mkdtemp(join(folder, '.partial-'));
  try {
    const part = { ecosystem: 'pypi', name: 'onnxruntime-gpu', version } as const;
    const wheel = await fetchWithClient(part, scratch, signal);
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
