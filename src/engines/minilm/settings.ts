import type { Static } from '@sinclair/typebox';
import type { EmbedModelSettings } from '../../contract/core/settings.ts';
import type { PoolSpec } from '../../inference/pool/model-loader.ts';
import { kindKey, modelTable, tokenIdsKey } from '../table-keys.ts';

const KIND = 'minilm';

export interface MinilmModelSettings extends EmbedModelSettings {
  readonly kind: typeof KIND;
}

export const MinilmTable = modelTable({
  kind: kindKey(KIND, 'embedded embedding model all-MiniLM-L6-v2'),
  token_ids: tokenIdsKey,
});

export function parseMinilm({ token_ids: tokenIds }: Static<typeof MinilmTable>): MinilmModelSettings {
  return { kind: KIND, tokenIds };
}

export interface MinilmSpec extends PoolSpec {
  readonly kind: typeof KIND;
  /** Path of the graph. */
  readonly model: string;
  /** Path of the vocabulary file. */
  readonly vocabulary: string;
}
