/** The files of eSpeak NG in the model cache. */

import { resolveModelFiles } from '../../../models/model-files.ts';

const PLATFORM = `${process.platform}-${process.arch}`;

/** Engine of the catalog entries for this platform. */
export const ESPEAK_ENGINE = `espeak-${PLATFORM}`;

/** Path of the wheel with the library and its data. @throws Error that names the command which fetches a missing file. */
export function espeakWheel(modelsDir: string): string {
  const [path] = Object.values(resolveModelFiles(modelsDir, `espeak-ng-${PLATFORM}`));
  if (path === undefined) throw new Error(`The catalog has no file of eSpeak NG for ${PLATFORM}.`);
  return path;
}
