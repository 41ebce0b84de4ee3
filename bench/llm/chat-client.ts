/** Chat completions over HTTP with the times of their tokens. */

import type { LaunchedService } from '../../tools/harness/services/launcher.ts';

export interface ChatMessage {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

/** Times in ms since the request was sent. */
export interface TimedChat {
  readonly text: string;
  readonly tokens: number;
  readonly cachedTokens: number;
  readonly firstMs: number;
  readonly lastMs: number;
}

/** Streams a completion. @param onPiece called for each piece of text. */
export async function streamChat(
  service: LaunchedService,
  key: string,
  fields: {
    readonly model: string;
    readonly messages: readonly ChatMessage[];
    readonly [field: string]: unknown;
  },
  signal?: AbortSignal,
  onPiece: () => void = () => undefined,
): Promise<TimedChat> {
  const startMs = performance.now();
  const response = await service.fetch('/v1/chat/completions', {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify({
      temperature: 0,
      stream: true,
      stream_options: { include_usage: true },
      ...fields,
    }),
    ...(signal && { signal }),
  });
  if (!response.ok || !response.body) throw new Error(`${response.status}: ${await response.text()}`);
  let [text, firstMs, lastMs, tokens, cachedTokens] = ['', 0, 0, 0, 0];
  let remainder = '';
  const decoder = new TextDecoder();
  for await (const bytes of response.body) {
    const nowMs = performance.now() - startMs;
    const lines = (remainder + decoder.decode(bytes, { stream: true })).split('\n');
    remainder = lines.pop() ?? '';
    for (const line of lines) {
      if (!line.startsWith('data: {')) continue;
      const { choices, usage } = JSON.parse(line.slice('data: '.length));
      const content = choices[0]?.delta.content;
      if (content) {
        if (text === '') firstMs = nowMs;
        lastMs = nowMs;
        text += content;
        onPiece();
      }
      tokens = usage?.completion_tokens ?? tokens;
      cachedTokens = usage?.prompt_tokens_details?.cached_tokens ?? cachedTokens;
    }
  }
  const endMs = performance.now() - startMs;
  return { text, tokens, cachedTokens, firstMs: firstMs || endMs, lastMs: lastMs || endMs };
}

/** The prompt of the ChatML template, which all measured models have. */
export function chatMl(messages: readonly ChatMessage[]): string {
  const parts = messages.map(({ role, content }) => `<|im_start|>${role}\n${content}<|im_end|>\n`);
  return `${parts.join('')}<|im_start|>assistant\n`;
}
