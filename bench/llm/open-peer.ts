/** Installs and starts the baseline. */

import { existsSync } from 'node:fs';
import { copyFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type LineProcess, openLineProcess } from '../line-process.ts';

const SOURCE = join(import.meta.dirname, '../peers/node-llama-cpp/package.json');
const FOLDER = join(import.meta.dirname, '../../.cache/bench-node-llama-cpp');
const SCRIPT = join(import.meta.dirname, 'peer.ts');

/** @param file path of a GGUF file. @param threads number of threads of llama.cpp. */
export async function openLlamaPeer(
  file: string,
  threads: number,
  contextTokens: number,
): Promise<LineProcess> {
  if (!existsSync(join(FOLDER, 'node_modules/node-llama-cpp'))) {
    await mkdir(FOLDER, { recursive: true });
    await copyFile(SOURCE, join(FOLDER, 'package.json'));
    // Without its optional packages for GPUs.
    const install = Bun.spawn([process.execPath, 'install', '--omit=optional', '--ignore-scripts'], {
      cwd: FOLDER,
      stdout: 'ignore',
      stderr: 'inherit',
    });
    if ((await install.exited) !== 0) throw new Error(`the baseline could not be installed in ${FOLDER}`);
  }
  return openLineProcess([process.execPath, SCRIPT, FOLDER, file, String(threads), String(contextTokens)]);
}
