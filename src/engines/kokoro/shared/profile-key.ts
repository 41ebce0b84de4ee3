/** Where the norm statistics of Kokoro's preset voices are cached: they are measured once per machine. */

import type { Arithmetic } from '../../../inference/onnx/convolution-product.ts';
import { findImport, type ImportKey } from '../../../kit/storage/import-cache.ts';
import { catalogEntry } from '../../../models/model-files.ts';

/** Increment when the measurement or the calibration texts change. */
const VERSION = 3;

/** The catalog's file of a voice. @throws Error for an unknown voice, with a list of the available voices. */
export function voiceFile(name: string) {
  const { files } = catalogEntry('kokoro-voices');
  const file = files.find((candidate) => candidate.name === `${name}.bin`);
  if (file) return file;
  const available = files.map((candidate) => candidate.name.replace(/\.bin$/, '')).join(', ');
  throw new Error(`Kokoro has no voice '${name}'. Available voices: ${available}.`);
}

/** Key of the measurement of a voice in the import cache. @throws Error for an unknown voice. */
export function profileKey(name: string, arithmetic: Arithmetic): ImportKey {
  return {
    sources: [...catalogEntry('kokoro-82m-int8').files.map((model) => model.sha256), voiceFile(name).sha256],
    importer: 'kokoro-voice',
    version: VERSION,
    provider: arithmetic === 'float16' ? 'cuda' : 'cpu',
    options: { arithmetic },
  };
}

/** Whether the statistics of a voice are cached on this machine. @throws Error for an unknown voice. */
export async function hasProfile(modelsDir: string, name: string, arithmetic: Arithmetic): Promise<boolean> {
  return (await findImport(modelsDir, profileKey(name, arithmetic))) !== undefined;
}
