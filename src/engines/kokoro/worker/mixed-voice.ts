/** A mix of Kokoro's voices as the model speaks it. */

import type { KokoroMix, VoiceWeights } from '../shared/voice-mix.ts';
import { type SpokenStyle, STYLE_LENGTH } from './front.ts';
import { mixedProfile, type VoiceProfile } from './norm-statistics.ts';
import type { KokoroVoice } from './voices.ts';

const HALF = STYLE_LENGTH / 2;

/** A voice that a mix is made of. */
export interface MixedPart {
  readonly style: SpokenStyle['style'];
  /** Undefined of a voice that was not measured on this machine yet. */
  readonly profile: VoiceProfile | undefined;
}

/**
 * @param presets every voice that the mix names.
 * @param otherwise statistics for a mix that has a voice without them: those of any voice are nearer than none.
 */
export function mixedVoice(
  mix: KokoroMix,
  presets: ReadonlyMap<string, MixedPart>,
  otherwise: VoiceProfile,
): KokoroVoice {
  const parts = (weights: VoiceWeights) =>
    Object.entries(weights).map(([name, weight]) => {
      const voice = presets.get(name);
      if (!voice) throw new Error(`the mix lacks voice '${name}'`);
      return { voice, weight };
    });
  const [timbre, prosody] = [parts(mix.timbre), parts(mix.prosody)];
  const style = (tokens: number) => {
    const mixed = new Float32Array(STYLE_LENGTH);
    for (const [half, of] of [timbre, prosody].entries()) {
      for (const { voice, weight } of of) {
        const own = voice.style(tokens);
        for (let i = half * HALF; i < (half + 1) * HALF; i++)
          mixed[i] = (mixed[i] ?? 0) + weight * (own[i] ?? 0);
      }
    }
    return mixed;
  };
  const isMeasured = [...timbre, ...prosody].every(({ voice }) => voice.profile !== undefined);
  const profiles = (of: typeof timbre) =>
    of.map(({ voice, weight }) => ({ profile: voice.profile ?? otherwise, weight }));
  return {
    style,
    profile: isMeasured ? mixedProfile(profiles(timbre), profiles(prosody)) : otherwise,
    pitchScale: mix.pitchScale,
  };
}
