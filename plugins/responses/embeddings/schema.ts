/** Request schema and parsing of POST /v1/embeddings (openai-wire 5). */

import { type Static, Type } from '@sinclair/typebox';
import { TypeCompiler } from '@sinclair/typebox/compiler';
import { invalidRequest, type ServiceError } from '../../../src/contract/core/error.ts';
import type { EmbedRequest } from '../../../src/contract/engines/embed.ts';
import { checkedBody } from '../../../src/http/request/json-body.ts';
import { textTokens } from '../../../src/kit/text/token-estimate.ts';
import { oneOf } from '../../../src/kit/validation/type-errors.ts';

/** Limits of the OpenAI API. */
const MAX_INPUTS = 2048;
const MAX_TOKENS_OF_ONE = 8192;
const MAX_TOKENS = 300_000;

const TokenId = Type.Integer({ minimum: 0 });
const Text = Type.String({ minLength: 1 });
const list = { minItems: 1, maxItems: MAX_INPUTS };

/**
 * Validation rules, also used for the OpenAPI document. `input` is validated by hand, to name the invalid
 * element.
 */
export const EmbedBody = Type.Object({
  model: Type.String({ description: 'Id of an embedding model.', examples: ['all-minilm-l6-v2'] }),
  input: Type.Unsafe<unknown>(
    Type.Union(
      [
        Text,
        Type.Array(Text, list),
        Type.Array(TokenId, list),
        Type.Array(Type.Array(TokenId, { minItems: 1, maxItems: MAX_TOKENS_OF_ONE }), list),
      ],
      {
        description:
          'One or several texts, or their token ids in `cl100k_base`, or in the vocabulary of the model if CONFIG sets `token_ids = "model"`.',
        examples: ['The cat sat on the mat.'],
      },
    ),
  ),
  encoding_format: Type.Optional(
    oneOf(['float', 'base64'], {
      default: 'float',
      description: '`base64`: little-endian 32-bit floats.',
    }),
  ),
  dimensions: Type.Optional(
    Type.Integer({ minimum: 1, description: 'Length of the vectors. Default: the dimension of the model.' }),
  ),
  user: Type.Optional(Type.Unknown({ description: 'Ignored.' })),
});

const Checked = Type.Object({
  ...EmbedBody.properties,
  input: Type.Unknown(),
});
const checker = TypeCompiler.Compile(Checked);

/** A validated request. */
export interface EmbedParams {
  readonly model: string;
  readonly encoding: 'float' | 'base64';
  readonly request: Pick<EmbedRequest, 'inputs' | 'dimensions'>;
}

/**
 * Validates a body except for rules that depend on the model. Fields without effect are ignored.
 * @throws ServiceError `invalid_request` with the name of the field.
 */
export function parseEmbed(body: unknown): EmbedParams {
  const fields = checkedBody<Static<typeof Checked>>(body, checker);
  const inputs = inputsOf(fields.input);
  const tokens = estimatedTokens(inputs);
  if (tokens > MAX_TOKENS) {
    throw invalidInput('input', `must have at most ${MAX_TOKENS} tokens in total; it has about ${tokens}`);
  }
  return {
    model: fields.model,
    encoding: fields.encoding_format ?? 'float',
    request: { inputs, dimensions: fields.dimensions },
  };
}

/** Estimates the tokens of the inputs without the tokenizer of the model. */
function estimatedTokens(inputs: EmbedRequest['inputs']): number {
  return inputs.reduce(
    (sum, input) => sum + (typeof input === 'string' ? textTokens(input) : input.length),
    0,
  );
}

function inputsOf(input: unknown): EmbedRequest['inputs'] {
  if (typeof input === 'string') return [textOf(input, 'input')];
  if (!Array.isArray(input)) {
    throw invalidInput('input', 'must be a string, a list of strings, token ids, or a list of token ids');
  }
  if (input.length === 0 || input.length > MAX_INPUTS) {
    throw invalidInput('input', `must have from 1 to ${MAX_INPUTS} entries`);
  }
  const [first] = input;
  if (typeof first === 'number') return [idsOf(input, 'input')];
  const read = Array.isArray(first) ? idsOf : textOf;
  return input.map((entry, index) => read(entry, `input.${index}`));
}

function textOf(value: unknown, field: string): string {
  if (typeof value === 'string' && value !== '') return value;
  throw invalidInput(field, 'must be a non-empty string');
}

function idsOf(value: unknown, field: string): readonly number[] {
  const isId = (id: unknown) => Number.isSafeInteger(id) && (id as number) >= 0;
  if (!Array.isArray(value) || !value.every(isId)) {
    throw invalidInput(field, 'must be a list of token ids, which are non-negative integers');
  }
  if (value.length > 0 && value.length <= MAX_TOKENS_OF_ONE) return value;
  throw invalidInput(field, `must have from 1 to ${MAX_TOKENS_OF_ONE} token ids`);
}

function invalidInput(field: string, problem: string): ServiceError {
  return invalidRequest(`'${field}' ${problem}.`, field, 'invalid_value');
}
