/** Piper: fast speech models, one per voice. */

import { ESPEAK_ENGINE } from '../espeak/shared/files.ts';
import { type Component, defineFamily, type NeededFiles } from '../family.ts';
import { DEFAULT_PIPER_VOICE } from './default-voice.ts';
import { hubPiper, requirePiperVoice } from './hub-voices.ts';
import { piperPool } from './pool.ts';
import { type PiperModelSettings, PiperTable, parsePiper } from './settings.ts';

const KIND = 'piper';

export const piper = defineFamily({
  kind: KIND,
  task: 'speech',
  schema: PiperTable,
  parse: parsePiper,
  ownKeys: ['voices', 'compatibility'],
  files: ({ voice }: PiperModelSettings): NeededFiles => {
    requirePiperVoice(voice);
    // American English of the catalog's voice has a phonemizer of its own.
    if (voice === DEFAULT_PIPER_VOICE) return { catalog: [KIND] };
    return { catalog: [ESPEAK_ENGINE], outside: { weights: voice, hub: hubPiper(voice) } };
  },
  filesNamed: (name) => {
    const hub = hubPiper(name);
    return hub && { catalog: [ESPEAK_ENGINE], outside: { weights: name, hub } };
  },
  pool: piperPool,
  open: async (models, host) => (await import('./open.ts')).openPiper(models, host),
});

/** The speech model of machines on which the default one and a language model together are too slow. */
export const piperFastSpeech: Component<'fastSpeech'> = {
  slot: 'fastSpeech',
  purpose: 'conversations on slow machines',
  open: async (host) => (await import('./open.ts')).openFastSpeech(host),
};
