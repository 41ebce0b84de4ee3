/** Stored voices for Kokoro: a mix of its preset voices that approximates the speaker (docs/decisions/stored-voices.md). */

import type { VoiceFitter } from '../../../contract/engines/voice.ts';
import { readMix, writeMix } from '../shared/voice-mix.ts';
import { PRESET_VOICES } from './preset-voices.ts';
import { blendFor } from './voice-blend.ts';

export const kokoroFitter: VoiceFitter = {
  isNeeded: true,
  isCurrent: (adaptation) => readMix(adaptation) !== undefined,
  createAdaptation: (speaker) => writeMix(blendFor(speaker, PRESET_VOICES)),
};

/** For configurations without a model that supports adaptations. */
export const NO_FITTER: VoiceFitter = {
  isNeeded: false,
  isCurrent: () => false,
  createAdaptation() {
    throw new Error('no configured model supports fitted voices');
  },
};
