/**
 * A voice between Kokoro's own: what a stored voice becomes for this model. The first half of a style is the sound of
 * the voice (the decoder takes it), the second how it moves (durations, pitch, energy), so each half is a mix of its own;
 * pitch can be moved beside that.
 */

import { Type } from '@sinclair/typebox';
import { TypeCompiler } from '@sinclair/typebox/compiler';
import { catalogEntry } from '../../../../models/model-files.ts';

/** Raise with every change of what the same mix sounds like. */
const VERSION = 1;
const KIND = 'kokoro-mix';
/** Beyond these a voice is no longer one that the model learned. */
const WEIGHT = { minimum: -1, maximum: 2 };
const PITCH_SCALE = { minimum: 0.5, maximum: 2 };

/** Parts of voices by their names; together 1. A negative one leads away from its voice. */
export type VoiceWeights = Readonly<Record<string, number>>;

export interface KokoroMix {
  readonly timbre: VoiceWeights;
  readonly prosody: VoiceWeights;
  /** 0.5 to 2; by which the pitch that the mix would have is multiplied. */
  readonly pitchScale: number;
}

const strict = { additionalProperties: false } as const;
const Weights = Type.Record(Type.String(), Type.Number(WEIGHT), { minProperties: 1, maxProperties: 64 });
const check = TypeCompiler.Compile(
  Type.Object(
    {
      kind: Type.Literal(KIND),
      version: Type.Literal(VERSION),
      timbre: Weights,
      prosody: Weights,
      pitchScale: Type.Number(PITCH_SCALE),
    },
    strict,
  ),
);

/** Names of the voices that come with the model. */
export function presetNames(): string[] {
  return catalogEntry('kokoro-voices').files.map(({ name }) => name.replace(/\.bin$/, ''));
}

/** Those that were made to speak English. */
export function englishPresetNames(): string[] {
  return presetNames().filter((name) => /^[ab][fm]_/.test(name));
}

/** A mix as the text that is stored with a voice, a few hundred bytes. */
export function writeMix({ timbre, prosody, pitchScale }: KokoroMix): string {
  const rounded = (weights: VoiceWeights) =>
    Object.fromEntries(
      Object.entries(weights).flatMap(([name, weight]) => {
        const value = Number(weight.toFixed(4));
        return value === 0 ? [] : [[name, value]];
      }),
    );
  return JSON.stringify({
    kind: KIND,
    version: VERSION,
    timbre: rounded(timbre),
    prosody: rounded(prosody),
    pitchScale: Number(pitchScale.toFixed(4)),
  });
}

/** @returns undefined for text that is no mix, of another version, or names a voice that is not there. */
export function readMix(adaptation: string): KokoroMix | undefined {
  let stored: unknown;
  try {
    stored = JSON.parse(adaptation);
  } catch {
    return undefined;
  }
  if (!check.Check(stored)) return undefined;
  const { timbre, prosody, pitchScale } = stored;
  const known = new Set(presetNames());
  const named = [...Object.keys(timbre), ...Object.keys(prosody)];
  return named.every((name) => known.has(name)) ? { timbre, prosody, pitchScale } : undefined;
}
