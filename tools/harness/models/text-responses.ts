/** Requests to text engines and their complete responses. */

import { expect } from 'vitest';
import type { TextEngine, TextEvent, TextRequest } from '../../../src/contract/engines/text.ts';

const never = new AbortController().signal;
const TEXT = { kind: 'text' } as const;

/** A request with one short question and a limit of a few tokens. */
export function textRequest(fields: Partial<TextRequest> = {}): TextRequest {
  return {
    messages: [{ role: 'user', parts: [{ kind: 'text', text: 'Hi' }] }],
    tools: [],
    toolChoice: 'auto',
    parallelToolCalls: true,
    output: TEXT,
    sampling: { temperature: 0, seed: 5 },
    stop: [],
    maxTokens: 8,
    priority: 'interactive',
    fairnessKey: 'org_a',
    ...fields,
  };
}

/** A complete response. */
export interface CollectedResponse {
  readonly text: string;
  readonly calls: readonly { readonly id: string; readonly name: string; readonly arguments: string }[];
  readonly end: Extract<TextEvent, { kind: 'end' }>;
}

/** Joins the events of a response and checks their order. */
export function wholeAnswer(events: readonly TextEvent[]): CollectedResponse {
  let text = '';
  const calls: { id: string; name: string; arguments: string }[] = [];
  const end = events.at(-1);
  if (end?.kind !== 'end') throw new Error('the end is not the last event');
  for (const event of events.slice(0, -1)) {
    switch (event.kind) {
      case 'text':
      case 'reasoning':
      case 'refusal':
        expect(event.text).not.toBe('');
        if (event.kind === 'text') text += event.text;
        break;
      case 'tool_call':
        expect(event.index).toBe(calls.length);
        calls.push({ id: event.id, name: event.name, arguments: '' });
        break;
      case 'tool_arguments': {
        expect(event.text).not.toBe('');
        const call = calls[event.index];
        if (call === undefined) throw new Error('arguments before their call');
        call.arguments += event.text;
        break;
      }
      case 'end':
        throw new Error('a second end');
    }
  }
  expect(text.isWellFormed()).toBe(true);
  expect(new Set(calls.map(({ id }) => id)).size).toBe(calls.length);
  const { input, output, cached, reasoning } = end.tokens;
  for (const count of [input, output, cached, reasoning]) expect(Number.isSafeInteger(count)).toBe(true);
  expect(input).toBeGreaterThan(0);
  expect(cached).toBeGreaterThanOrEqual(0);
  expect(cached).toBeLessThanOrEqual(input);
  expect(reasoning).toBeLessThanOrEqual(output);
  return { text, calls, end };
}

/** Runs a request and returns its complete response. */
export async function collectResponse(
  engine: TextEngine,
  fields: Partial<TextRequest> = {},
  signal: AbortSignal = never,
): Promise<CollectedResponse> {
  return wholeAnswer(await Array.fromAsync(engine.generate(textRequest(fields), signal)));
}
