import { describe, expect, it } from 'vitest';
import { GbnfSampler, withoutSpaces } from '../../../../packages/json-schema-gbnf/testing/gbnf-sampler.ts';
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

/** Distinct samples of the responses that the grammar allows. */
function sampleResponses(fields: Partial<TextRequest>, count = 60): Set<string> {
  const { whole } = grammars(fields);
  if (whole === undefined) throw new Error('the request has no grammar: any text is allowed');
  const random = seededRandom(3);
  const sampler = new GbnfSampler(whole);
  return new Set(Array.from({ length: count }, () => withoutSpaces(sampler.sample(random))));
}

describe('buildPrompt', () => {
  it('merges messages per turn and renders calls and results as text', () => {
    const { conversation, responseKind } = buildPrompt(
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
    expect(responseKind).toBe('text');
    expect(grammars({ messages: [says('Hi')] }).whole).toBeUndefined();
  });

  it('lists the callable tools before the system message', () => {
    const messages: ChatMessage[] = [{ role: 'system', text: 'Be kind.' }, says('Hi')];
    const constraints = buildPrompt(textRequest({ messages, tools: [LAMP, BELL] }), undefined);
    const [system] = constraints.conversation.messages;
    expect(system?.content).toContain('{"name":"bell","description":"Rings."}');
    expect(system?.content).toContain('{"name":"lamp","parameters":');
    expect(system?.content).toMatch(/\nBe kind\.$/);
    expect(constraints.responseKind).toBe('text_or_calls');
    const named = buildPrompt(
      textRequest({ messages, tools: [LAMP, BELL], toolChoice: { name: 'bell' } }),
      undefined,
    );
    expect(named.conversation.messages[0]?.content).not.toContain('lamp');
    expect(named.responseKind).toBe('calls');
    const none = buildPrompt(textRequest({ messages, tools: [LAMP, BELL], toolChoice: 'none' }), undefined);
    expect(none.conversation.messages[0]?.content).toBe('Be kind.');
  });
});

describe('buildGrammar', () => {
  it('allows one call of a named tool, even if parallel calls are enabled', () => {
    const whole = (fields: Partial<TextRequest>) => {
      const request = textRequest({ tools: [LAMP, BELL], parallelToolCalls: true, ...fields });
      return buildGrammar(request, buildPrompt(request, undefined), 100).whole;
    };
    expect(whole({ toolChoice: 'required' })).toContain('{0,15}');
    expect(whole({ toolChoice: { name: 'bell' } })).not.toContain('{0,15}');
  });

  it('allows one or several calls of the required tools', () => {
    for (const text of sampleResponses({ tools: [LAMP, BELL], toolChoice: 'required' })) {
      const calls = text.split('\n');
      expect(calls.length).toBeLessThanOrEqual(16);
      for (const call of calls) {
        const [, json = ''] = /^<tool_call>(.*)<\/tool_call>$/.exec(call) ?? [];
        const { name, arguments: given } = JSON.parse(json);
        expect(name === 'bell' || given.on === 1).toBe(true);
      }
    }
    const only = sampleResponses({
      tools: [LAMP, BELL],
      toolChoice: { name: 'lamp' },
      parallelToolCalls: false,
    });
    expect(only).toEqual(new Set(['<tool_call>{"name":"lamp","arguments":{"on":1}}</tool_call>']));
  });

  it('allows a call, or text that does not start like a call', () => {
    const all = sampleResponses({ tools: [LAMP], parallelToolCalls: false }, 200);
    const calls = [...all].filter((text) => text.startsWith('<'));
    expect(calls).toEqual(['<tool_call>{"name":"lamp","arguments":{"on":1}}</tool_call>']);
    for (const text of all) if (!calls.includes(text)) expect(text).toMatch(/^$|^[^<\s]/);
  });

  it('allows JSON or a call if the request has a schema and tools', () => {
    const output = { kind: 'json_schema', name: 'x', schema: { const: 'so' }, strict: true } as const;
    expect(sampleResponses({ output })).toEqual(new Set(['"so"']));
    expect(sampleResponses({ output, tools: [LAMP], parallelToolCalls: false })).toEqual(
      new Set(['"so"', '<tool_call>{"name":"lamp","arguments":{"on":1}}</tool_call>']),
    );
    for (const text of sampleResponses({ output: { kind: 'json' } })) expect(text).toMatch(/^\{.*\}$/s);
  });
});

describe('the grammar that completes a truncated response', () => {
  const output = { kind: 'json_schema', name: 'x', schema: { const: 'so' }, strict: true } as const;
  const completions = (fields: Partial<TextRequest>) => {
    const { json } = grammars(fields);
    return json && new GbnfSampler(json).sample(seededRandom(1));
  };

  it('allows JSON if requested, and never a call', () => {
    expect(completions({ output })).toBe('"so"');
    expect(completions({ output, tools: [LAMP] })).toBe('"so"');
    expect(completions({ output, tools: [LAMP], toolChoice: 'none' })).toBe('"so"');
    expect(completions({ output: { kind: 'json' } })).toMatch(/^\{.*\}$/s);
  });

  it('is absent for free text and required calls', () => {
    expect(completions({})).toBeUndefined();
    expect(completions({ tools: [LAMP] })).toBeUndefined();
    expect(completions({ output, tools: [LAMP], toolChoice: 'required' })).toBeUndefined();
  });
});

describe('schemas and tools of a request', () => {
  it('an unsupported schema is rejected if it is strict', () => {
    const parameters = { properties: { a: { uniqueItems: true } } };
    const tool = (strict: boolean) => [{ name: 'f', parameters, strict }];
    expect(() => grammars({ tools: tool(true) })).toThrow("'uniqueItems' (at properties/a)");
    expect(grammars({ tools: tool(false) }).whole).toContain('arguments');
    const output = { kind: 'json_schema', name: 'x', schema: parameters, strict: false } as const;
    expect(() => grammars({ output })).toThrow(
      expect.objectContaining({
        kind: 'invalid_request',
        param: 'response_format',
        code: 'unsupported_value',
        message: "The JSON Schema is not supported by this model: 'uniqueItems' (at properties/a).",
      }),
    );
  });

  it('references in parameters resolve to the parameters', () => {
    const parameters = {
      $defs: { a: { const: 4 } },
      properties: { a: { $ref: '#/$defs/a' } },
      required: ['a'],
    };
    const tools = [{ name: 'f', parameters, strict: true }];
    expect(sampleResponses({ tools, toolChoice: 'required', parallelToolCalls: false })).toEqual(
      new Set(['<tool_call>{"name":"f","arguments":{"a":4}}</tool_call>']),
    );
  });

  it('an unknown tool choice is rejected', () => {
    expect(() =>
      buildPrompt(textRequest({ tools: [LAMP], toolChoice: { name: 'none' } }), undefined),
    ).toThrow(expect.objectContaining({ kind: 'invalid_request', param: 'tool_choice' }));
  });
});
