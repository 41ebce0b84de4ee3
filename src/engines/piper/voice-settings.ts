/** Settings file of a Piper voice (`*.onnx.json`). */

import { type Static, Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';

const SettingsFile = Type.Object({
  audio: Type.Object({ sample_rate: Type.Integer({ minimum: 8000, maximum: 48_000 }) }),
  inference: Type.Object({
    /** Standard deviation of the prior noise. */
    noise_scale: Type.Number(),
    /** Factor on the durations of phonemes. */
    length_scale: Type.Number(),
    /** Standard deviation of the duration noise. */
    noise_w: Type.Number(),
  }),
  /** Voice of eSpeak NG whose phonemes the voice was trained with. */
  espeak: Type.Optional(Type.Object({ voice: Type.String({ pattern: '^[A-Za-z0-9-]{1,40}$' }) })),
  /** `espeak`, or `text`: the symbols are letters. */
  phoneme_type: Type.Optional(Type.String()),
  /** Such as `de_DE`. */
  language: Type.Optional(Type.Object({ code: Type.Optional(Type.String()) })),
  /** Names of the speakers, and their numbers. */
  speaker_id_map: Type.Optional(Type.Record(Type.String(), Type.Integer({ minimum: 0 }))),
  phoneme_id_map: Type.Record(Type.String(), Type.Array(Type.Integer())),
});

export type PiperSettings = Static<typeof SettingsFile>;

/** @throws Error when the text is not a valid settings file. */
export function parsePiperSettings(json: string): PiperSettings {
  return Value.Parse(SettingsFile, JSON.parse(json));
}
