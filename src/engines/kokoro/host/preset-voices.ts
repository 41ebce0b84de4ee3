/**
 * Speaker embedding and pitch of Kokoro's English preset voices, in preset-voices.json. `bun tools/measure-presets.ts` writes
 * the file: it synthesizes two sentences with each voice and measures them. Do so after a change of the speech model, of
 * the voices or of the speaker encoder in src/models/catalog.json; a test compares their checksums.
 */

import { sha256 } from '../../../kit/storage/content-hash.ts';
import { catalogEntry } from '../../../models/model-files.ts';
import table from './preset-voices.json' with { type: 'json' };
import type { PresetVoice } from './voice-blend.ts';

/** The content of preset-voices.json. */
export interface PresetTable {
  /** {@link measuredSources} at the time of the measurement. */
  readonly sources: string;
  readonly voices: readonly {
    readonly name: string;
    readonly pitchHz: number;
    /** Base64 of 32-bit floats, little-endian. */
    readonly embedding: string;
  }[];
}

/** Hash of the model files on which the measurements depend. */
export function measuredSources(): string {
  const files = ['kokoro-82m-int8', 'kokoro-voices', 'resemblyzer'].flatMap((id) => catalogEntry(id).files);
  return sha256(files.map((file) => file.sha256).join(' '));
}

/** The measured preset voices. */
export const PRESET_VOICES: readonly PresetVoice[] = (table satisfies PresetTable).voices.map(
  ({ name, pitchHz, embedding }) => ({
    name,
    pitchHz,
    embedding: new Float32Array(new Uint8Array(Buffer.from(embedding, 'base64')).buffer),
  }),
);
