import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { USER_CACHE } from '../user-cache.ts';

/**
 * A folder in the cache of the user with the packages of a file. The first call installs them.
 * @param cache name of the cache.
 * @param file names the packages and versions; another content is another folder.
 * @param install installs the packages into an empty folder.
 */
export async function cachedPackages(
  cache: string,
  file: string,
  install: (folder: string) => Promise<void>,
): Promise<string> {
  const parent = join(USER_CACHE, cache);
  const name = createHash('sha256')
    .update(await readFile(file))
    .digest('hex');
  const folder = join(parent, name);
  if (existsSync(folder)) return folder;
  await mkdir(parent, { recursive: true });
  // Renamed into place when complete, because other processes may install it concurrently.
  const unfinished = await mkdtemp(join(parent, 'unfinished-'));
  await install(unfinished);
  await rename(unfinished, folder).catch(() => rm(unfinished, { recursive: true }));
  return folder;
}
