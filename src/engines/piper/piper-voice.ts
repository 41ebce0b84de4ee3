/** Settings of a Piper voice (`*.onnx.json`) and its phoneme numbering. */

import { Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';

const VoiceFile = Type.Object({
  audio: Type.Object({ sample_rate: Type.Integer({ minimum: 8000, maximum: 48_000 }) }),
  inference: Type.Object({ noise_scale: Type.Number(), length_scale: Type.Number(), noise_w: Type.Number() }),
  phoneme_id_map: Type.Record(Type.String(), Type.Array(Type.Integer())),
});

export interface PiperVoice {
  readonly rateHz: number;
  /** Variation of the sound. */
  readonly noiseScale: number;
  /** Frames per phoneme, relative. */
  readonly lengthScale: number;
  /** Variation of the rhythm. */
  readonly noiseWidth: number;
  readonly idsOf: ReadonlyMap<string, readonly number[]>;
}

/** @throws Error when the text is not a voice file. */
export function parsePiperVoice(json: string): PiperVoice {
  const file = Value.Parse(VoiceFile, JSON.parse(json));
  return {
    rateHz: file.audio.sample_rate,
    noiseScale: file.inference.noise_scale,
    lengthScale: file.inference.length_scale,
    noiseWidth: file.inference.noise_w,
    idsOf: new Map(Object.entries(file.phoneme_id_map)),
  };
}

const START = '^';
const END = '$';
const PAD = '_';

/**
 * Numbers of a phoneme string: start, each phoneme followed by a pad, end (the order that Piper's voices
 * were trained on). Characters that the voice does not know are left out; empty when none is left that can
 * be heard.
 */
export function phonemeIds(voice: PiperVoice, phonemes: string): number[] {
  const idsOf = (symbol: string) => voice.idsOf.get(symbol) ?? [];
  const body: number[] = [];
  let audible = false;
  // The numbering holds base letters and combining marks, each by itself.
  for (const symbol of phonemes.normalize('NFD')) {
    const ids = idsOf(symbol);
    if (ids.length === 0 || symbol === START || symbol === END || symbol === PAD) continue;
    audible ||= /\p{L}/u.test(symbol);
    body.push(...ids, ...idsOf(PAD));
  }
  return audible ? [...idsOf(START), ...idsOf(PAD), ...body, ...idsOf(END)] : [];
}
