import { describe, expect, it } from 'vitest';
import { GbnfSampler } from '../../../../packages/json-schema-gbnf/testing/gbnf-sampler.ts';
import { textRequest } from '../../../../tools/harness/models/text-responses.ts';
import type { FunctionTool, TextEvent } from '../../../contract/engines/text.ts';
import { seededRandom } from '../../../kit/math/seeded-random.ts';
import { buildGrammar, buildPrompt } from '../shared/prompt.ts';
import { LlamaResponseReader } from './response-reader.ts';

const TOOLS: FunctionTool[] = [
  {
    name: 'set_lamp',
    strict: true,
    parameters: { properties: { on: { type: 'boolean' } }, required: ['on'] },
  },
  { name: 'bell', strict: false },
];
const request = textRequest({ tools: TOOLS, parallelToolCalls: true });
const prompt = buildPrompt(request, undefined);
const format = {
  kind: prompt.responseKind,
  syntax: prompt.syntax,
  bareCalls: prompt.bareCalls,
  toolNames: prompt.toolNames,
  stop: [],
};
const USAGE = { input: 1, output: 1, cached: 0, reasoning: 0 };

/** What a client gets for an output that arrives in pieces of a length. */
function read(output: string, pieceLength: number, complete = true) {
  const reader = new LlamaResponseReader(format);
  const events: TextEvent[] = [];
  for (let at = 0; at < output.length; at += pieceLength)
    events.push(...reader.push(output.slice(at, at + pieceLength)));
  events.push(...reader.end(complete, USAGE));
  const calls = new Map<number, { name: string; arguments: string }>();
  let text = '';
  for (const event of events) {
    if (event.kind === 'text') text += event.text;
    else if (event.kind === 'tool_call') calls.set(event.index, { name: event.name, arguments: '' });
    else if (event.kind === 'tool_arguments') {
      const call = calls.get(event.index);
      if (call) call.arguments += event.text;
    }
  }
  const end = events.at(-1);
  return { text, calls: [...calls.values()], reason: end?.kind === 'end' ? end.reason : undefined };
}

describe('an output is a tool call', () => {
  const lamp = { name: 'set_lamp', arguments: '{"on":true}' };
  it.each([
    ['<tool_call>{"name":"set_lamp","arguments":{"on":true}}</tool_call>', [lamp]],
    ['{"name": "set_lamp", "arguments": {"on":true}}', [lamp]],
    ['```json\n{"name": "set_lamp", "arguments": {"on":true}}\n```', [lamp]],
    ['```\n{"name": "set_lamp", "arguments": {"on":true}}\n```', [lamp]],
    ['```json\n{\n  "name": "set_lamp",\n  "arguments": {"on":true}\n}\n```', [lamp]],
    [
      '{"name": "set_lamp", "arguments": {"on":true}}\n{"name": "bell", "arguments": {"a":"}"}}',
      [lamp, { name: 'bell', arguments: '{"a":"}"}' }],
    ],
  ])('%j', (output, calls) => {
    for (const pieceLength of [1, 3, 7, 1000]) {
      expect(read(output, pieceLength)).toEqual({ text: '', calls, reason: 'tool_calls' });
    }
  });
});

describe('an output is text', () => {
  it.each([
    'Hello.',
    '',
    '{',
    '{"a": 1}',
    '{"name": "Anna", "age": 7}',
    '{"name": "set_lamps", "arguments": {}}',
    '{"named": 1}',
    '```json\n{"a": 1}\n```',
    '```js\nlamp();\n```',
    'Use {"name": "set_lamp", "arguments": {"on":true}}.',
    '`set_lamp` is a function.',
  ])('%j', (output) => {
    for (const pieceLength of [1, 3, 1000]) {
      expect(read(output, pieceLength)).toEqual({ text: output, calls: [], reason: 'stop' });
    }
  });
});

it('does not return the truncated start of a call as text', () => {
  for (const output of ['<tool_c', '{"name": "set_l', '```json\n{"na']) {
    expect(read(output, 2, false)).toEqual({ text: '', calls: [], reason: 'length' });
  }
});

it('every output that the grammar allows is calls of the tools, or the same text', () => {
  const { whole = '' } = buildGrammar(request, prompt, 100);
  const sampler = new GbnfSampler(whole);
  const random = seededRandom(7);
  const starts = new Set<string>();
  for (let sample = 0; sample < 600; sample += 1) {
    const output = sampler.sample(random);
    const { text, calls } = read(output, 1 + Math.floor(random() * 5));
    if (calls.length === 0) expect(text).toBe(output);
    else {
      expect(text).toBe('');
      for (const call of calls) {
        expect(['set_lamp', 'bell']).toContain(call.name);
        expect(typeof JSON.parse(call.arguments)).toBe('object');
      }
    }
    starts.add(`${calls.length > 0 ? 'calls' : 'text'} ${output[0] ?? ''}`);
  }
  for (const start of ['calls <', 'calls {', 'calls `', 'text {', 'text `', 'text ']) {
    expect([...starts].some((each) => each.startsWith(start))).toBe(true);
  }
});
