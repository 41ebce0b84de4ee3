import { copyFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cachedPackages } from './package-cache.ts';

/** A module finds packages next to itself, so clients import these packages through this one. */
const LOADER = 'export const load = (name) => import(name);\n';

/**
 * Installs the packages of the bun.lock in a folder, which are not dependencies of this repository.
 * @returns the path of a module whose function `load` imports a package by its name.
 */
export async function nodePackages(source: string): Promise<string> {
  const packages = await cachedPackages('test-node', join(source, 'bun.lock'), async (folder) => {
    for (const name of ['package.json', 'bun.lock']) await copyFile(join(source, name), join(folder, name));
    const command = [process.execPath, 'install', '--frozen-lockfile', '--ignore-scripts'];
    const child = Bun.spawn(command, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
    const [errors, exitCode] = await Promise.all([new Response(child.stderr).text(), child.exited]);
    if (exitCode !== 0) throw new Error(`${command.join(' ')} ended with code ${exitCode}:\n${errors}`);
    await writeFile(join(folder, 'load.mjs'), LOADER);
  });
  return join(packages, 'load.mjs');
}
