import type { PoolSpec } from '../../../inference/pool/model-loader.ts';

export interface SpeakersSpec extends PoolSpec {
  readonly kind: 'resemblyzer';
  readonly modelsDir: string;
}
