import { describe, expect, it } from 'vitest';
import type { TextEvent } from '../../../src/contract/engines/text.ts';
import { ChunkBuilder, CompletionBuilder } from './completion.ts';

const HEAD = { id: 'chatcmpl-1', created: 1_765_000_000, model: 'm' } as const;
const TOKENS = { input: 12, output: 5, cached: 4, reasoning: 1 };
const USAGE = {
  prompt_tokens: 12,
  completion_tokens: 5,
  total_tokens: 17,
  prompt_tokens_details: { cached_tokens: 4, audio_tokens: 0 },
  completion_tokens_details: {
    reasoning_tokens: 1,
    audio_tokens: 0,
    accepted_prediction_tokens: 0,
    rejected_prediction_tokens: 0,
  },
};
const TEXT: TextEvent[] = [
  { kind: 'text', text: 'Hel' },
  { kind: 'text', text: 'lo.' },
  { kind: 'end', reason: 'stop', tokens: TOKENS },
];
const CALLS: TextEvent[] = [
  { kind: 'tool_call', index: 0, id: 'call_1', name: 'weather' },
  { kind: 'tool_arguments', index: 0, text: '{"a"' },
  { kind: 'tool_arguments', index: 0, text: ':1}' },
  { kind: 'tool_call', index: 1, id: 'call_2', name: 'time' },
  { kind: 'tool_arguments', index: 1, text: '{}' },
  { kind: 'end', reason: 'tool_calls', tokens: TOKENS },
];

function completionOf(events: readonly TextEvent[]) {
  const builder = new CompletionBuilder(HEAD);
  return events.map((event) => builder.add(event)).at(-1);
}

function toChunks(events: readonly TextEvent[], includeUsage = false) {
  const maker = new ChunkBuilder(HEAD, includeUsage);
  return events.flatMap((event) => maker.toChunks(event)) as {
    choices: { delta: object; finish_reason: string | null }[];
    usage?: unknown;
  }[];
}

describe('a complete chat completion', () => {
  it('contains the text', () => {
    expect(completionOf(TEXT)).toEqual({
      ...HEAD,
      object: 'chat.completion',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'Hello.', refusal: null, annotations: [] },
          logprobs: null,
          finish_reason: 'stop',
        },
      ],
      usage: USAGE,
    });
  });

  it('with calls has no content', () => {
    expect(completionOf(CALLS)?.choices[0]?.message).toEqual({
      role: 'assistant',
      content: null,
      refusal: null,
      annotations: [],
      tool_calls: [
        { id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"a":1}' } },
        { id: 'call_2', type: 'function', function: { name: 'time', arguments: '{}' } },
      ],
    });
  });

  it('without output has an empty text', () => {
    const end: TextEvent = { kind: 'end', reason: 'length', tokens: TOKENS };
    expect(completionOf([end])?.choices[0]).toMatchObject({
      message: { content: '' },
      finish_reason: 'length',
    });
  });
});

describe('chunks', () => {
  it('of a text contain the role, the parts and the finish reason', () => {
    const chunks = toChunks(TEXT);
    expect(chunks.map(({ choices }) => choices[0]?.delta)).toEqual([
      { role: 'assistant', content: '', refusal: null },
      { content: 'Hel' },
      { content: 'lo.' },
      {},
    ]);
    expect(chunks.map(({ choices }) => choices[0]?.finish_reason)).toEqual([null, null, null, 'stop']);
    for (const chunk of chunks) {
      expect(chunk).toMatchObject({ ...HEAD, object: 'chat.completion.chunk' });
      expect(chunk).not.toHaveProperty('usage');
    }
  });

  it('of calls contain id and name once, then the arguments', () => {
    expect(toChunks(CALLS).map(({ choices }) => choices[0]?.delta)).toEqual([
      { role: 'assistant', content: null, refusal: null },
      {
        tool_calls: [
          { index: 0, id: 'call_1', type: 'function', function: { name: 'weather', arguments: '' } },
        ],
      },
      { tool_calls: [{ index: 0, function: { arguments: '{"a"' } }] },
      { tool_calls: [{ index: 0, function: { arguments: ':1}' } }] },
      {
        tool_calls: [{ index: 1, id: 'call_2', type: 'function', function: { name: 'time', arguments: '' } }],
      },
      { tool_calls: [{ index: 1, function: { arguments: '{}' } }] },
      {},
    ]);
  });

  it('with usage contain null until a last chunk without choices', () => {
    const chunks = toChunks(TEXT, true);
    expect(chunks.slice(0, -1).every(({ usage }) => usage === null)).toBe(true);
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: USAGE });
  });
});
