/** Unpacks the wheel of eSpeak NG, once on a machine: the library reads its data from a folder. */

import { mkdir, open } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { importOnce } from '../../../kit/storage/import-cache.ts';
import { readZipMember, zipMembers } from '../../../models/zip-file.ts';
import { espeakWheel } from '../shared/files.ts';

/** Increment when the layout of the folder changes. */
const VERSION = 1;
const PACKAGE = 'espeakng_loader/';
const DATA = 'espeak-ng-data';
const LIBRARY = process.platform === 'darwin' ? 'libespeak-ng.dylib' : 'libespeak-ng.so';
/** Of one file; the largest dictionary has 9 MB. */
const MAX_FILE_BYTES = 16 << 20;
/** Names of files and folders in the data, such as `espeak-ng-data/lang/roa/pt-BR`. */
const DATA_PATH = /^espeak-ng-data\/(?:[A-Za-z0-9_-]+\/){0,4}[A-Za-z0-9_+-]+$/;

export interface EspeakFiles {
  /** Path of the shared library. */
  readonly library: string;
  /** Folder that contains `espeak-ng-data`. */
  readonly folder: string;
}

/** @throws Error if the wheel is missing or damaged. */
export async function importEspeak(modelsDir: string): Promise<EspeakFiles> {
  const wheel = espeakWheel(modelsDir);
  const key = {
    sources: [basename(wheel)],
    importer: 'espeak-ng',
    version: VERSION,
    provider: `${process.platform}-${process.arch}`,
  };
  const folder = await importOnce(modelsDir, key, (dir) => unpack(wheel, dir));
  return { library: join(folder, LIBRARY), folder };
}

async function unpack(wheel: string, dir: string): Promise<void> {
  const archive = await open(wheel, 'r');
  try {
    for (const member of await zipMembers(archive)) {
      const path = member.name.startsWith(PACKAGE) ? member.name.slice(PACKAGE.length) : '';
      if (path !== LIBRARY && !(path.startsWith(`${DATA}/`) && DATA_PATH.test(path))) continue;
      if (Math.max(member.bytes, member.packedBytes) > MAX_FILE_BYTES) {
        throw new Error(
          `The file ${path} of eSpeak NG has ${member.bytes} bytes; at most ${MAX_FILE_BYTES} are expected.`,
        );
      }
      await mkdir(dirname(join(dir, path)), { recursive: true });
      await Bun.write(join(dir, path), await readZipMember(archive, member));
    }
  } finally {
    await archive.close();
  }
}
