import { describe, expect, it } from 'vitest';
import { GbnfSampler } from '../../../../test/generators/gbnf-sampler.ts';
import { textRequest } from '../../../../tools/harness/models/text-responses.ts';
import type { ChatMessage, FunctionTool, TextRequest } from '../../../contract/engines/text.ts';
import { seededRandom } from '../../../kit/math/seeded-random.ts';
import { buildGrammar, buildPrompt } from './prompt.ts';

const says = (text: string): ChatMessage => ({ role: 'user', parts: [{ kind: 'text', text }] });
const LAMP: FunctionTool = {
  name: 'lamp',
  strict: true,
  parameters: { properties: { on: { const: 1 } }, required: ['on'] },
};
const BELL: FunctionTool = { name: 'bell', description: 'Rings.', strict: false };

function grammars(fields: Partial<TextRequest>, room = 100) {
  const request = textRequest(fields);
  return buildGrammar(request, buildPrompt(request, undefined), room);
}

/** What answers may be. */
function answers(fields: Partial<TextRequest>, count = 60): Set<string> {
  const { whole } = grammars(fields);
  if (whole === undefined) throw new Error('any text may be');
  const random = seededRandom(3);
  const sampler = new GbnfSampler(whole);
  return new Set(Array.from({ length: count }, () => sampler.sample(random)));
}

describe('messages', () => {
  it('are one for each turn, with calls and their results as text', () => {
    const { conversation, answer } = buildPrompt(
      textRequest({
        messages: [
          { role: 'system', text: 'One.' },
          { role: 'system', text: 'Two.' },
          says('Ring!'),
          { role: 'assistant', text: undefined, toolCalls: [{ id: 'c', name: 'bell', arguments: '{}' }] },
          { role: 'tool', toolCallId: 'c', text: 'rang' },
          says('Thanks'),
        ],
      }),
      undefined,
    );
    expect(conversation.messages).toEqual([
      { role: 'system', content: 'One.\nTwo.' },
      { role: 'user', content: 'Ring!' },
      { role: 'assistant', content: '<tool_call>{"name":"bell","arguments":{}}</tool_call>' },
      { role: 'user', content: '<tool_response>rang</tool_response>\nThanks' },
    ]);
    expect(answer).toBe('text');
    expect(grammars({ messages: [says('Hi')] }).whole).toBeUndefined();
  });

  it('list the callable tools before the system message', () => {
    const messages: ChatMessage[] = [{ role: 'system', text: 'Be kind.' }, says('Hi')];
    const constraints = buildPrompt(textRequest({ messages, tools: [LAMP, BELL] }), undefined);
    const [system] = constraints.conversation.messages;
    expect(system?.content).toContain('{"name":"bell","description":"Rings."}');
    expect(system?.content).toContain('{"name":"lamp","parameters":');
    expect(system?.content).toMatch(/\nBe kind\.$/);
    expect(constraints.answer).toBe('either');
    const named = buildPrompt(
      textRequest({ messages, tools: [LAMP, BELL], toolChoice: { name: 'bell' } }),
      undefined,
    );
    expect(named.conversation.messages[0]?.content).not.toContain('lamp');
    expect(named.answer).toBe('calls');
    const none = buildPrompt(textRequest({ messages, tools: [LAMP, BELL], toolChoice: 'none' }), undefined);
    expect(none.conversation.messages[0]?.content).toBe('Be kind.');
  });
});

describe('answers', () => {
  it('are one call or several of the tools that are required', () => {
    for (const text of answers({ tools: [LAMP, BELL], toolChoice: 'required' })) {
      const calls = text.split('\n');
      expect(calls.length).toBeLessThanOrEqual(16);
      for (const call of calls) {
        const [, json = ''] = /^<tool_call>(.*)<\/tool_call>$/.exec(call) ?? [];
        const { name, arguments: given } = JSON.parse(json);
        expect(name === 'bell' || given.on === 1).toBe(true);
      }
    }
    const only = answers({ tools: [LAMP, BELL], toolChoice: { name: 'lamp' }, parallelToolCalls: false });
    expect(only).toEqual(new Set(['<tool_call>{"name":"lamp","arguments":{"on":1}}</tool_call>']));
  });

  it('are a call or a text that does not begin like one', () => {
    const all = answers({ tools: [LAMP], parallelToolCalls: false }, 200);
    const calls = [...all].filter((text) => text.startsWith('<'));
    expect(calls).toEqual(['<tool_call>{"name":"lamp","arguments":{"on":1}}</tool_call>']);
    for (const text of all) if (!calls.includes(text)) expect(text).toMatch(/^$|^[^<\s]/);
  });

  it('are JSON, or a call, when both are asked for', () => {
    const output = { kind: 'json_schema', name: 'x', schema: { const: 'so' }, strict: true } as const;
    expect(answers({ output })).toEqual(new Set(['"so"']));
    expect(answers({ output, tools: [LAMP], parallelToolCalls: false })).toEqual(
      new Set(['"so"', '<tool_call>{"name":"lamp","arguments":{"on":1}}</tool_call>']),
    );
    for (const text of answers({ output: { kind: 'json' } })) expect(text).toMatch(/^\{.*\}$/s);
  });
});

describe('what ends an answer that was cut', () => {
  const output = { kind: 'json_schema', name: 'x', schema: { const: 'so' }, strict: true } as const;
  const ends = (fields: Partial<TextRequest>) => {
    const { json } = grammars(fields);
    return json && new GbnfSampler(json).sample(seededRandom(1));
  };

  it('is JSON where that is asked for, and never a call', () => {
    expect(ends({ output })).toBe('"so"');
    expect(ends({ output, tools: [LAMP] })).toBe('"so"');
    expect(ends({ output, tools: [LAMP], toolChoice: 'none' })).toBe('"so"');
    expect(ends({ output: { kind: 'json' } })).toMatch(/^\{.*\}$/s);
  });

  it('is nothing where any text may be, or has to be a call', () => {
    expect(ends({})).toBeUndefined();
    expect(ends({ tools: [LAMP] })).toBeUndefined();
    expect(ends({ output, tools: [LAMP], toolChoice: 'required' })).toBeUndefined();
  });
});

describe('refuses', () => {
  it('an unsupported schema, unless it is not strict', () => {
    const parameters = { properties: { a: { not: {} } } };
    const tool = (strict: boolean) => [{ name: 'f', parameters, strict }];
    expect(() => grammars({ tools: tool(true) })).toThrow("'not' (at properties/a)");
    expect(grammars({ tools: tool(false) }).whole).toContain('arguments');
    const output = { kind: 'json_schema', name: 'x', schema: parameters, strict: false } as const;
    expect(() => grammars({ output })).toThrow(expect.objectContaining({ param: 'response_format' }));
  });

  it('references of parameters mean the parameters', () => {
    const parameters = {
      $defs: { a: { const: 4 } },
      properties: { a: { $ref: '#/$defs/a' } },
      required: ['a'],
    };
    const tools = [{ name: 'f', parameters, strict: true }];
    expect(answers({ tools, toolChoice: 'required', parallelToolCalls: false })).toEqual(
      new Set(['<tool_call>{"name":"f","arguments":{"a":4}}</tool_call>']),
    );
  });

  it('a tool that is not there', () => {
    expect(() =>
      buildPrompt(textRequest({ tools: [LAMP], toolChoice: { name: 'none' } }), undefined),
    ).toThrow(expect.objectContaining({ kind: 'invalid_request', param: 'tool_choice' }));
  });
});
