/** A mix of Kokoro's voices as the model speaks it. */

import { STYLE_LENGTH } from './kokoro-front.ts';
import type { KokoroMix, VoiceWeights } from './kokoro-mix.ts';
import type { KokoroVoice } from './kokoro-voices.ts';
import { mixedProfile } from './norm-statistics.ts';

const HALF = STYLE_LENGTH / 2;

/** @param presets every voice that the mix names. */
export function mixedVoice(mix: KokoroMix, presets: ReadonlyMap<string, KokoroVoice>): KokoroVoice {
  const parts = (weights: VoiceWeights) =>
    Object.entries(weights).map(([name, weight]) => {
      const voice = presets.get(name);
      if (!voice) throw new Error(`the mix lacks voice '${name}'`);
      return { voice, weight };
    });
  const [timbre, prosody] = [parts(mix.timbre), parts(mix.prosody)];
  const styles = new Float32Array(timbre[0]?.voice.styles.length ?? 0);
  for (const [half, of] of [timbre, prosody].entries()) {
    for (const { voice, weight } of of) {
      for (let row = half * HALF; row < styles.length; row += STYLE_LENGTH) {
        for (let i = row; i < row + HALF; i++) styles[i] = (styles[i] ?? 0) + weight * (voice.styles[i] ?? 0);
      }
    }
  }
  const profiles = (of: typeof timbre) => of.map(({ voice, weight }) => ({ profile: voice.profile, weight }));
  return {
    styles,
    profile: mixedProfile(profiles(timbre), profiles(prosody)),
    pitchScale: mix.pitchScale,
  };
}
