import type { Static } from '@sinclair/typebox';
import type { ModelSettings } from '../../contract/core/settings.ts';
import type { PoolSpec } from '../../inference/pool/model-loader.ts';
import type { TableSource } from '../family.ts';
import { kindKey, modelTable, requireWeightsForm, weightsKey } from '../table-keys.ts';
import { hubWhisper } from './shared/weights.ts';

const KIND = 'whisper';
const DEFAULT_WEIGHTS = 'base';

export interface WhisperModelSettings extends ModelSettings {
  readonly kind: typeof KIND;
  /**
   * `base` (multilingual), `tiny.en` (English only, smaller), another name of faster-whisper such as `large-v3-turbo`,
   * `hf:owner/repository` with a CTranslate2 checkpoint, or the absolute path of a folder with a CTranslate2 checkpoint or an
   * ONNX export.
   */
  readonly weights: string;
}

export const WhisperTable = modelTable({
  kind: kindKey(KIND, 'embedded transcription model'),
  weights: weightsKey(
    '`base` is multilingual, `tiny.en` English and smaller; or another name of faster-whisper, `hf:owner/repository`, or the absolute path of a folder',
    DEFAULT_WEIGHTS,
  ),
});

export function parseWhisper(
  { weights = DEFAULT_WEIGHTS }: Static<typeof WhisperTable>,
  source: TableSource,
): WhisperModelSettings {
  requireWeightsForm(weights, source, 'a folder', hubWhisper);
  return { kind: KIND, weights };
}

export interface WhisperSpec extends PoolSpec {
  readonly kind: typeof KIND;
  readonly modelsDir: string;
  /** `base`, `tiny.en`, or the absolute path of a folder with a checkpoint or an ONNX export. */
  readonly weights: string;
}
