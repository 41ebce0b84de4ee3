import { pcmToWav } from '../../src/audio/wav.ts';
import { newId } from '../../src/contract/core/id.ts';
import type { SpokenVoice } from '../../src/contract/engines/spoken-voice.ts';
import { writeMix } from '../../src/engines/kokoro/shared/voice-mix.ts';

/** A Kokoro adaptation. */
export const KOKORO_MIX = writeMix({
  timbre: { am_adam: 0.7, bm_george: 0.3 },
  prosody: { am_adam: 1 },
  pitchScale: 0.95,
});

/** A stored voice as passed to engines. Its clip is 5 s of silence. */
export function spokenVoice(fields: Partial<SpokenVoice> = {}): SpokenVoice {
  return {
    id: newId('tts-vc-voice_'),
    adaptation: 'adapted',
    refText: 'What the clip says.',
    clip: async () => pcmToWav(new Uint8Array(160_000), 16_000),
    ...fields,
  };
}
