/**
 * Voices that speak a language other than their own (docs/decisions/accents.md). A style also decides how the sounds of a language are
 * articulated, so such a voice gets the share of a voice of the language that it needs to be understood, where possible at its own pitch.
 */

import type { ModelVoice } from '../../../inference/pool/model.ts';
import { type AccentVoice, FRONT_ENDS, frontEndOf } from '../../../text/front-end.ts';
import { languageOfPreset } from '../shared/preset-languages.ts';
import { type KokoroMix, readMix, type VoiceWeights, writeMix } from '../shared/voice-mix.ts';
import { PRESET_VOICES } from './preset-voices.ts';

/** Pitches of the presets in Hz, where they are known. */
const PITCHES: ReadonlyMap<string, number> = new Map(
  [...PRESET_VOICES, ...FRONT_ENDS.flatMap(({ kokoroAccent }) => accentVoices(kokoroAccent))].flatMap(
    ({ name, pitchHz }) => (pitchHz === undefined ? [] : [[name, pitchHz] as const]),
  ),
);
/** Limits of {@link KokoroMix.pitchScale}. */
const PITCH_SCALE = { min: 0.5, max: 2 };

/** The voice as it speaks a language: unchanged in a language that it needs no share for, or that has its share already. */
export function accentedVoice(voice: ModelVoice, language: string): ModelVoice {
  const accent = frontEndOf(language)?.kokoroAccent;
  if (accent === undefined) return voice;
  const mix = voice.kind === 'preset' ? mixOf(voice.name) : readMix(voice.adaptation);
  if (mix === undefined) return voice;
  const isFemale = sumOf(mix.timbre, (name) => name.charAt(1) === 'f') >= 0.5;
  const added = isFemale ? accent.female : accent.male;
  const accentLanguage = languageOfPreset(added.name);
  const own = sumOf(mix.timbre, (name) => languageOfPreset(name) === accentLanguage);
  if (own >= added.share) return voice;
  const share = (added.share - own) / (1 - own);
  const accented: KokoroMix = {
    timbre: withShare(mix.timbre, added.name, share),
    prosody: withShare(mix.prosody, added.name, share),
    pitchScale: pitchScaleOf(mix, added, share),
  };
  return { kind: 'adaptation', adaptation: writeMix(accented) };
}

/** The default voice of each language, and the voices that are blended into voices of other languages. */
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

/** The factor with which a voice keeps its pitch: the pitch of a mix is the geometric mean of its voices, by weight. */
function pitchScaleOf({ prosody, pitchScale }: KokoroMix, { pitchHz }: AccentVoice, share: number): number {
  // What a share of 1 replaces leaves nothing of the voice whose pitch the factor changes.
  if (pitchHz === undefined) return share < 1 ? pitchScale : 1;
  let [log, known] = [0, 0];
  for (const [name, weight] of Object.entries(prosody)) {
    const pitch = PITCHES.get(name);
    if (pitch === undefined) continue;
    log += weight * Math.log(pitch / pitchHz);
    known += weight;
  }
  const kept = known > 0 ? pitchScale * Math.exp((share * log) / known) : pitchScale;
  return Math.min(PITCH_SCALE.max, Math.max(PITCH_SCALE.min, kept));
}
