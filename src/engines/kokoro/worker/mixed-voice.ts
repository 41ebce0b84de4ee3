/** Computes the style vectors and norm statistics of a mix of voices. */

import type { KokoroMix, VoiceWeights } from '../shared/voice-mix.ts';
import { STYLE_LENGTH, type VoiceStyle } from './acoustic-model.ts';
import { mixProfiles, type NormProfile } from './norm-statistics.ts';
import type { KokoroVoice } from './voices.ts';

const HALF = STYLE_LENGTH / 2;

/** A preset voice as a component of a mix. */
export interface MixVoice {
  readonly style: VoiceStyle['style'];
  /** Undefined if the voice is not yet measured on this machine. */
  readonly profile: NormProfile | undefined;
}

/**
 * @param presets all voices of the mix, by name.
 * @param fallback statistics for a mix with an unmeasured voice. Those of any other voice are a better estimate than none.
 * @throws Error when `presets` lacks a voice of the mix.
 */
export function createMixedVoice(
  mix: KokoroMix,
  presets: ReadonlyMap<string, MixVoice>,
  fallback: NormProfile,
): KokoroVoice {
  const components = (weights: VoiceWeights) =>
    Object.entries(weights).map(([name, weight]) => {
      const voice = presets.get(name);
      if (!voice) throw new Error(`voice '${name}' of the mix is not loaded`);
      return { voice, weight };
    });
  const [timbre, prosody] = [components(mix.timbre), components(mix.prosody)];
  const style = (tokens: number) => {
    const mixed = new Float32Array(STYLE_LENGTH);
    for (const [half, voices] of [timbre, prosody].entries()) {
      for (const { voice, weight } of voices) {
        const own = voice.style(tokens);
        for (let i = half * HALF; i < (half + 1) * HALF; i++)
          mixed[i] = (mixed[i] ?? 0) + weight * (own[i] ?? 0);
      }
    }
    return mixed;
  };
  const isMeasured = [...timbre, ...prosody].every(({ voice }) => voice.profile !== undefined);
  const profiles = (voices: typeof timbre) =>
    voices.map(({ voice, weight }) => ({ profile: voice.profile ?? fallback, weight }));
  return {
    style,
    profile: isMeasured ? mixProfiles(profiles(timbre), profiles(prosody)) : fallback,
    pitchScale: mix.pitchScale,
  };
}
