/** Generated test files, kept in the cache of the user, because encoding and speech synthesis are slow. */

import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { sha256 } from '../../../src/kit/storage/content-hash.ts';
import { USER_CACHE } from '../user-cache.ts';

const CACHE = join(USER_CACHE, 'test-fixtures');

/**
 * Writes generated files into a folder, from the cache if they have been generated before.
 * @param inputs everything that the files depend on, and the source files of the generator; a change invalidates the entry.
 * @param names names of the files.
 * @param generate writes the files into a folder. Must be deterministic.
 */
export async function cachedFiles(
  folder: string,
  inputs: { readonly parameters: unknown; readonly sources: readonly string[] },
  names: readonly string[],
  generate: (folder: string) => Promise<void>,
): Promise<void> {
  const sources = inputs.sources.map((path) => readFileSync(path, 'utf8'));
  const entry = join(CACHE, sha256(JSON.stringify([inputs.parameters, names, sources])));
  if (!existsSync(entry)) {
    mkdirSync(CACHE, { recursive: true });
    const unfinished = mkdtempSync(join(CACHE, 'unfinished-'));
    try {
      await generate(unfinished);
      renameSync(unfinished, entry);
    } catch (error) {
      rmSync(unfinished, { recursive: true, force: true });
      // Another process may have generated the same files in the meantime.
      if (!existsSync(entry)) throw error;
    }
  }
  for (const name of names) copyFileSync(join(entry, name), join(folder, name));
}
