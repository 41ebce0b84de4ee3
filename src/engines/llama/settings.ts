import { type Static, Type } from '@sinclair/typebox';
import type { ModelSettings } from '../../contract/core/settings.ts';
import type { TableSource } from '../family.ts';
import { contextTokensKey, kindKey, modelTable, requireWeightsForm, weightsKey } from '../table-keys.ts';
import { hubGguf } from './shared/model-file.ts';

const KIND = 'llama';
const DEFAULT_WEIGHTS = 'smollm2-135m-instruct';
const DEFAULT_SLOTS = 4;
const DEFAULT_CONTEXT_TOKENS = 2048;
/** Generated within the usual client timeout of 60 s, even by a model of 1.5 billion parameters on two cores. */
const DEFAULT_MAX_TOKENS = 768;
/** Default context of weights that have been trained for longer conversations. */
const CONTEXT_TOKENS_OF_WEIGHTS: Readonly<Record<string, number>> = {
  'qwen2.5-0.5b-instruct': 8192,
  'qwen2.5-1.5b-instruct': 8192,
};

/** A language model that runs in its own local process. */
export interface LlamaModelSettings extends ModelSettings {
  readonly kind: typeof KIND;
  /** A name of the model catalog, `hf:owner/repository/file.gguf`, or the absolute path of a GGUF file. */
  readonly weights: string;
  /** Number of responses generated concurrently; each has its own share of the context. */
  readonly slots: number;
  /** Tokens of prompt and response together. */
  readonly contextTokens: number;
  /** Maximum number of output tokens of a request that does not limit them. */
  readonly defaultMaxTokens: number;
}

export const LlamaTable = modelTable({
  kind: kindKey(KIND, 'embedded language model, in a process per file of weights'),
  weights: weightsKey(
    'a name of the model catalog, `hf:owner/repository/file.gguf`, or the absolute path of a GGUF file',
    DEFAULT_WEIGHTS,
  ),
  slots: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 64, default: DEFAULT_SLOTS, description: 'concurrent completions' }),
  ),
  context_tokens: contextTokensKey(
    'maximum of prompt and completion tokens; default 2048, or 8192 for the Qwen2.5 models',
  ),
  default_max_tokens: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 1_048_576,
      default: DEFAULT_MAX_TOKENS,
      description: 'completion tokens of a request without a token limit',
    }),
  ),
});

export function parseLlama(table: Static<typeof LlamaTable>, source: TableSource): LlamaModelSettings {
  const {
    weights = DEFAULT_WEIGHTS,
    slots = DEFAULT_SLOTS,
    context_tokens: contextTokens = CONTEXT_TOKENS_OF_WEIGHTS[weights] ?? DEFAULT_CONTEXT_TOKENS,
    default_max_tokens: defaultMaxTokens = DEFAULT_MAX_TOKENS,
  } = table;
  requireWeightsForm(weights, source, 'a GGUF file', hubGguf);
  return { kind: KIND, weights, slots, contextTokens, defaultMaxTokens };
}
