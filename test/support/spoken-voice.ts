import { wavHeader } from '../../src/audio/wav.ts';
import { newId } from '../../src/contract/id.ts';
import type { SpokenVoice } from '../../src/contract/voice.ts';

/** A stored voice as engines see it, whose clip is 5 s of silence. */
export function spokenVoice(fields: Partial<SpokenVoice> = {}): SpokenVoice {
  return {
    id: newId('voice'),
    adaptation: 'adapted',
    refText: 'What the clip says.',
    clip: async () => Buffer.concat([wavHeader(160_000, 16_000), new Uint8Array(160_000)]),
    ...fields,
  };
}
