import { type Static, Type } from '@sinclair/typebox';
import type { TtsModelSettings } from '../../contract/core/settings.ts';
import type { PoolSpec } from '../../inference/pool/model-loader.ts';
import type { TableSource } from '../family.ts';
import {
  compatibilityKey,
  compatibilityOf,
  kindKey,
  languagesKey,
  languagesOf,
  modelTable,
  nameKey,
  presetVoicesKey,
  presetVoicesOf,
  weightsKey,
} from '../table-keys.ts';
import { DEFAULT_PIPER_VOICE } from './default-voice.ts';

const KIND = 'piper';

export interface PiperModelSettings extends TtsModelSettings {
  readonly kind: typeof KIND;
  /**
   * The voice of the model catalog, a name of the repository `rhasspy/piper-voices` such as `de_DE-thorsten-medium`, or the
   * absolute path of a file `.onnx`.
   */
  readonly voice: string;
  /** Name of the default speaker of a voice with several. */
  readonly speaker?: string | undefined;
  /** Whether requests can name the voices of the model. */
  readonly voices?: 'presets' | undefined;
}

export const PiperTable = modelTable({
  kind: kindKey(KIND, 'embedded speech models of Piper, one per voice'),
  voice: weightsKey(
    'any voice of rhasspy/piper-voices, or the absolute path of a file .onnx',
    DEFAULT_PIPER_VOICE,
  ),
  speaker: Type.Optional(nameKey('default speaker of a voice with several; the first if it is not set')),
  voices: presetVoicesKey,
  languages: languagesKey,
  compatibility: compatibilityKey,
});

export function parsePiper(table: Static<typeof PiperTable>, source: TableSource): PiperModelSettings {
  const { voice = DEFAULT_PIPER_VOICE, speaker } = table;
  return {
    kind: KIND,
    voice,
    voices: presetVoicesOf(table.voices, source),
    compatibility: compatibilityOf(table.compatibility, source),
    ...(speaker !== undefined && { speaker }),
    ...languagesOf(table.languages, source),
  };
}

export interface PiperSpec extends PoolSpec {
  readonly kind: typeof KIND;
  /** Path of the voice's graph. */
  readonly model: string;
  /** Path of the voice's settings. */
  readonly settings: string;
  /** Name of the voice, for messages and for its language. */
  readonly voice: string;
  /** Model cache with eSpeak NG, for voices outside the catalog. Absent: the English eSpeak of the inference process. */
  readonly modelsDir?: string;
}
