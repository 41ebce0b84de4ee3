import { expect, test } from 'vitest';
import { FakeTextEngine } from '../../test/doubles/fake-text-engine.ts';
import type { ChatMessage, TextRequest, UserPart } from '../contract/engines/text.ts';
import { maxInputTokens, maxTokenUsage } from './token-limits.ts';

const unknown = new FakeTextEngine();

function question(fields: Partial<TextRequest> = {}) {
  return { messages: [], tools: [], output: { kind: 'text' }, maxTokens: undefined, ...fields } as const;
}

const user = (...parts: UserPart[]): ChatMessage => ({ role: 'user', parts });
const text = (words: string): ChatMessage => user({ kind: 'text', text: words });
/** Difference of the maximum input tokens of two requests. */
const more = (first: Partial<TextRequest>, second: Partial<TextRequest>) =>
  maxInputTokens(question(second)) - maxInputTokens(question(first));

test('a text has at most as many tokens as bytes, in any script', () => {
  for (const words of ['Hello.', 'Grüße', '你好', '👋🏽', '\ud800']) {
    const bytes = new TextEncoder().encode(words).length;
    const said: ChatMessage[][] = [
      [text(words)],
      [{ role: 'system', text: words }],
      [{ role: 'assistant', text: words, toolCalls: [] }],
      [{ role: 'tool', toolCallId: 'c', text: words }],
    ];
    for (const messages of said) expect(more({}, { messages })).toBeGreaterThanOrEqual(bytes + 10);
  }
});

test('every message, call and tool includes the overhead of the chat template', () => {
  const messages = Array.from({ length: 100 }, () => text(''));
  expect(more({}, { messages })).toBeGreaterThanOrEqual(1000);
  const call = { id: 'c', name: 'weather', arguments: '{"city":"Bern"}' };
  const calling = (calls: number): ChatMessage[] => [
    { role: 'assistant', text: undefined, toolCalls: Array.from({ length: calls }, () => call) },
  ];
  expect(more({ messages: calling(0) }, { messages: calling(10) })).toBeGreaterThanOrEqual(10 * (10 + 22));
  const tools = Array.from({ length: 10 }, () => ({ name: 'weather', strict: true }));
  expect(more({}, { tools })).toBeGreaterThanOrEqual(10 * 100);
});

test('tools and schemas are counted with the white space of chat templates', () => {
  const schema = { type: 'object', properties: { city: { type: 'string' } } };
  const printed = Buffer.byteLength(JSON.stringify(schema, undefined, 1));
  const tool = { name: 'weather', description: 'Wétter', parameters: schema, strict: true };
  expect(more({}, { tools: [tool] })).toBeGreaterThanOrEqual(printed + 'weather'.length + 7);
  const output = { kind: 'json_schema', name: 'city', schema, strict: true } as const;
  expect(more({}, { output })).toBeGreaterThanOrEqual(printed);
});

test('images, audio and files have generous bounds', () => {
  const counted = (part: UserPart) => more({ messages: [user()] }, { messages: [user(part)] });
  expect(counted({ kind: 'image', url: 'https://a.test/b.png' })).toBeGreaterThanOrEqual(16_384);
  expect(counted({ kind: 'audio', base64: 'A'.repeat(5000), format: 'wav' })).toBe(5000);
  expect(counted({ kind: 'file', base64: 'A'.repeat(5000), filename: 'a.txt' })).toBe(5000);
});

test('the output limit is that of the request, else the context size, else the default', () => {
  const known = new FakeTextEngine({ contextTokens: 100 });
  const outputs = (maxTokens?: number) =>
    [known, unknown].map((engine) => maxTokenUsage(question({ maxTokens }), engine).outputTokens);
  expect(outputs()).toEqual([100, 4096]);
  expect(outputs(7)).toEqual([7, 7]);
  expect(outputs(9000)).toEqual([100, 9000]);
  expect(maxTokenUsage(question({ messages: [text('x'.repeat(5000))] }), known).inputTokens).toBe(100);
});
