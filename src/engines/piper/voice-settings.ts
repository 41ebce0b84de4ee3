/** Settings of a Piper voice (`*.onnx.json`). */

import { type Static, Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';

const VoiceFile = Type.Object({
  audio: Type.Object({ sample_rate: Type.Integer({ minimum: 8000, maximum: 48_000 }) }),
  inference: Type.Object({
    /** Variation of the sound. */
    noise_scale: Type.Number(),
    /** Frames per phoneme, relative. */
    length_scale: Type.Number(),
    /** Variation of the rhythm. */
    noise_w: Type.Number(),
  }),
  phoneme_id_map: Type.Record(Type.String(), Type.Array(Type.Integer())),
});

export type PiperVoice = Static<typeof VoiceFile>;

/** @throws Error when the text is not a voice file. */
export function parsePiperVoice(json: string): PiperVoice {
  return Value.Parse(VoiceFile, JSON.parse(json));
}
