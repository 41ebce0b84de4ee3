/**
 * A mix of Kokoro's preset voices: the form of a stored voice for this model. The first half of a style vector controls
 * the timbre (input of the decoder), the second half the prosody (durations, pitch, energy). Each half is mixed
 * separately, and the pitch can be scaled in addition.
 */

import { Type } from '@sinclair/typebox';
import { TypeCompiler } from '@sinclair/typebox/compiler';
import { catalogEntry } from '../../../models/model-files.ts';

/** Increment when the same mix gives different audio. */
const VERSION = 1;
const KIND = 'kokoro-mix';
/** Beyond these bounds the style is too far from those that the model was trained on. */
const WEIGHT = { minimum: -1, maximum: 2 };
const PITCH_SCALE = { minimum: 0.5, maximum: 2 };

/** Weight of each voice by its name. The sum is 1. A negative weight leads away from the voice. */
export type VoiceWeights = Readonly<Record<string, number>>;

export interface KokoroMix {
  readonly timbre: VoiceWeights;
  readonly prosody: VoiceWeights;
  /** Factor on the predicted pitch, 0.5 to 2. */
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

/** Names of the model's preset voices. */
export function presetNames(): string[] {
  return catalogEntry('kokoro-voices').files.map(({ name }) => name.replace(/\.bin$/, ''));
}

/** Names of the presets for American and British English. */
export function englishPresetNames(): string[] {
  return presetNames().filter((name) => /^[ab][fm]_/.test(name));
}

/** Serializes a mix as JSON of a few hundred bytes, which is stored with a voice. */
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

/** Parses a stored mix. @returns undefined if the text is not a mix, has another version or names an unknown voice. */
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
