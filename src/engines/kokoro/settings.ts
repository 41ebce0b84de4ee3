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
} from '../table-keys.ts';

const KIND = 'kokoro';
const DEFAULT_VOICE = 'af_heart';

export interface KokoroModelSettings extends TtsModelSettings {
  readonly kind: typeof KIND;
  /** Default voice. */
  readonly voice: string;
  /** Whether requests can name the voices of the model in addition to stored voices. */
  readonly voices?: 'presets' | undefined;
}

export const KokoroTable = modelTable({
  kind: kindKey(KIND, 'embedded speech model Kokoro-82M'),
  voice: Type.Optional(nameKey('default voice, one of the presets', { default: DEFAULT_VOICE })),
  voices: presetVoicesKey,
  languages: languagesKey,
  compatibility: compatibilityKey,
});

export function parseKokoro(table: Static<typeof KokoroTable>, source: TableSource): KokoroModelSettings {
  return {
    kind: KIND,
    voice: table.voice ?? DEFAULT_VOICE,
    voices: presetVoicesOf(table.voices, source),
    compatibility: compatibilityOf(table.compatibility, source),
    ...languagesOf(table.languages, source),
  };
}

export interface KokoroSpec extends PoolSpec {
  readonly kind: typeof KIND;
  readonly modelsDir: string;
  /** Voices to load. The first is the default voice. */
  readonly voices: readonly string[];
}
