/** Text of token ids of OpenAI's embedding models. */

import { invalidRequest } from '../../../src/contract/core/error.ts';
import type { EmbedRequest } from '../../../src/contract/engines/embed.ts';

/** The bytes of each token in base64, by id. Ids of control tokens are not included. */
type Vocabulary = ReadonlyMap<number, string>;

let vocabulary: Promise<Vocabulary> | undefined;

/**
 * Converts inputs of token ids of `cl100k_base` to texts. Clients such as LangChain send these ids to any model, which would read
 * them as other words of its own vocabulary.
 * @throws ServiceError `invalid_request` for an unknown id.
 */
export async function withTexts(inputs: EmbedRequest['inputs']): Promise<readonly string[]> {
  const isText = (input: string | readonly number[]) => typeof input === 'string';
  if (inputs.every(isText)) return inputs;
  vocabulary ??= loadVocabulary();
  const tokens = await vocabulary;
  return inputs.map((input, index) =>
    typeof input === 'string'
      ? input
      : textOf(input, tokens, inputs.length === 1 ? 'input' : `input.${index}`),
  );
}

function textOf(ids: readonly number[], tokens: Vocabulary, field: string): string {
  const parts = ids.map((id) => {
    const token = tokens.get(id);
    if (token !== undefined) return Buffer.from(token, 'base64');
    throw invalidRequest(
      `'${field}' contains ${id}, which is not a token id of cl100k_base. Send texts, or set token_ids = "model" for this model in CONFIG to use the ids of its own vocabulary.`,
      field,
      'invalid_value',
    );
  });
  return Buffer.concat(parts).toString('utf8');
}

/** The vocabulary, which most services never need, is a list of lines: a name, the first id, and the tokens. */
async function loadVocabulary(): Promise<Vocabulary> {
  const { default: encoding } = await import('js-tiktoken/ranks/cl100k_base');
  const tokens = new Map<number, string>();
  for (const line of encoding.bpe_ranks.split('\n')) {
    const [, first = '0', ...entries] = line.split(' ');
    for (const [at, token] of entries.entries()) tokens.set(Number(first) + at, token);
  }
  return tokens;
}
