/** Whisper weights for faster-whisper. */

import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { loadConfig } from '../../server/config.ts';
import { whisperEntry } from '../../src/engines/whisper/shared/weights.ts';
import { resolveModelFiles } from '../../src/models/model-files.ts';

/** Links the model files with their original names in one folder, as faster-whisper requires. */
export function checkpointFolder(scratch: string, weights: string): string {
  const folder = join(scratch, 'checkpoint');
  mkdirSync(folder);
  const files = resolveModelFiles(loadConfig(process.env).modelsDir, whisperEntry(weights)?.id ?? weights);
  for (const [name, path] of Object.entries(files)) symlinkSync(path, join(folder, name));
  return folder;
}
