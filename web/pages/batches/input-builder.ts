/** Builds a batch input file from typed texts. Pure. */

import type { Endpoint } from './batch-wire.ts';

/** Returns JSONL with one request for each non-empty line of `texts`. */
export function buildInputLines(texts: string, endpoint: Endpoint, model: string): string {
  return texts
    .split('\n')
    .map((text) => text.trim())
    .filter((text) => text !== '')
    .map((text, index) => ({
      custom_id: `line-${index + 1}`,
      method: 'POST',
      url: endpoint,
      body: { model, ...requestFields(endpoint, text) },
    }))
    .map((line) => `${JSON.stringify(line)}\n`)
    .join('');
}

function requestFields(endpoint: Endpoint, text: string): object {
  switch (endpoint) {
    case '/v1/embeddings':
    case '/v1/responses':
      return { input: text };
    case '/v1/chat/completions':
      return { messages: [{ role: 'user', content: text }] };
  }
}
