/**
 * Voices that speak a language other than their own (docs/decisions/accents.md). A style also decides how the sounds of a language are
 * articulated, so such a voice gets the share of a voice of the language that it needs to be understood, at its own pitch.
 */

import type { ModelVoice } from '../../../inference/pool/model.ts';
import { type AccentVoice, FRONT_ENDS, frontEndOf } from '../../../text/front-end.ts';
import { languageOfPreset } from '../shared/preset-languages.ts';
import { type KokoroMix, readMix, type VoiceWeights, writeMix } from '../shared/voice-mix.ts';
import { PRESET_VOICES } from './preset-voices.ts';

/** Pitches of the presets in Hz, where they are known. */
const PITCHES: ReadonlyMap<string, number> = new Map(
  [...PRESET_VOICES, ...FRONT_ENDS.flatMap(({ kokoroAccent }) => accentVoices(kokoroAccent))].map(
    ({ name, pitchHz }) => [name, pitchHz],
  ),
);
/** Limits of a mix. */
const PITCH_SCALE = { min: 0.5, max: 2 };

/** The voice as it speaks a language: unchanged in a language that it needs no share for, or that has its share already. */
export function accentedVoice(voice: ModelVoice, language: string): ModelVoice {
  const accent = frontEndOf(language)?.kokoroAccent;
  if (accent === undefined) return voice;
  const mix = voice.kind === 'preset' ? mixOf(voice.name) : readMix(voice.adaptation);
  if (mix === undefined) return voice;
  const own = sumOf(mix.timbre, (name) => languageOfPreset(name) === language);
  if (own >= accent.share) return voice;
  const isFemale = sumOf(mix.timbre, (name) => name.charAt(1) === 'f') >= 0.5;
  const added = isFemale ? accent.female : accent.male;
  const share = (accent.share - own) / (1 - own);
  const accented: KokoroMix = {
    timbre: withShare(mix.timbre, added.name, share),
    prosody: withShare(mix.prosody, added.name, share),
    pitchScale: Math.min(
      PITCH_SCALE.max,
      Math.max(PITCH_SCALE.min, mix.pitchScale * pitchScaleFor(mix.prosody, added, share)),
    ),
  };
  return { kind: 'adaptation', adaptation: writeMix(accented) };
}

/** The default voice of each language, and the voices that others get a share of. */
export function languageVoices(): string[] {
  return FRONT_ENDS.flatMap(({ kokoroVoice, kokoroAccent }) => [
    kokoroVoice,
    ...accentVoices(kokoroAccent).map(({ name }) => name),
  ]);
}

function accentVoices(accent: (typeof FRONT_ENDS)[number]['kokoroAccent']): AccentVoice[] {
  return accent === undefined ? [] : [accent.female, accent.male];
}

function mixOf(name: string): KokoroMix {
  return { timbre: { [name]: 1 }, prosody: { [name]: 1 }, pitchScale: 1 };
}

/** Sum of the weights of some voices. */
function sumOf(weights: VoiceWeights, includes: (name: string) => boolean): number {
  return Object.entries(weights).reduce((sum, [name, weight]) => sum + (includes(name) ? weight : 0), 0);
}

function withShare(weights: VoiceWeights, added: string, share: number): VoiceWeights {
  const others = Object.entries(weights).map(([name, weight]) => [name, weight * (1 - share)] as const);
  return { ...Object.fromEntries(others), [added]: (weights[added] ?? 0) * (1 - share) + share };
}

/** Factor that keeps the pitch of the voice: that of a mix is the geometric mean of its voices, by weight. */
function pitchScaleFor(prosody: VoiceWeights, added: AccentVoice, share: number): number {
  let [log, known] = [0, 0];
  for (const [name, weight] of Object.entries(prosody)) {
    const pitch = PITCHES.get(name);
    if (pitch === undefined) continue;
    log += weight * Math.log(pitch / added.pitchHz);
    known += weight;
  }
  return known > 0 ? Math.exp((share * log) / known) : 1;
}
