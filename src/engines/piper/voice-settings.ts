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
  phoneme_id_map: Type.Record(Type.String(), Type.Array(Type.Integer())),
});

export type PiperSettings = Static<typeof SettingsFile>;

/** @throws Error when the text is not a valid settings file. */
export function parsePiperSettings(json: string): PiperSettings {
  return Value.Parse(SettingsFile, JSON.parse(json));
}
