import { Ajv } from 'ajv';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FunctionTool, JsonSchema, TextEngine, UserPart } from '../../src/contract/engines/text.ts';
import { collectResponse, textRequest } from '../../tools/harness/models/text-responses.ts';

/** An engine and its test data. The content of the generated text does not matter. */
export interface TextEngineUnderTest {
  /**
   * Deterministic: generates the same text of several words for the same request, up to its token limit.
   * Accepts the tools and schemas of these cases.
   */
  readonly engine: TextEngine;
  /** Message parts that this engine rejects. */
  readonly refusedParts: readonly UserPart[];
  close(): Promise<void>;
}

const never = new AbortController().signal;

const SCHEMA: JsonSchema = {
  type: 'object',
  properties: { good: { type: 'boolean' }, kind: { enum: ['one', 'two'] } },
  required: ['good', 'kind'],
  additionalProperties: false,
};

const TOOLS: readonly FunctionTool[] = [
  {
    name: 'switch_lamp',
    description: 'Switches the lamp.',
    parameters: {
      type: 'object',
      properties: { on: { type: 'boolean' } },
      required: ['on'],
      additionalProperties: false,
    },
    strict: true,
  },
  {
    name: 'set_color',
    description: 'Sets the color of the lamp.',
    parameters: {
      type: 'object',
      properties: { color: { enum: ['red', 'blue'] } },
      required: ['color'],
      additionalProperties: false,
    },
    strict: true,
  },
];

/** The contract of `TextEngine`. */
export function textEngineCases(name: string, open: () => Promise<TextEngineUnderTest>): void {
  describe(`${name} as a TextEngine`, () => {
    const ajv = new Ajv();
    let subject: TextEngineUnderTest;
    let engine: TextEngine;
    beforeAll(async () => {
      subject = await open();
      engine = subject.engine;
    });
    afterAll(() => subject?.close());

    it('is ready', () => {
      expect(engine.ready().ready).toBe(true);
    });

    it('yields text, then the finish reason and the token counts', async () => {
      const { text, calls, end } = await collectResponse(engine);
      expect(text).not.toBe('');
      expect(calls).toEqual([]);
      expect(['stop', 'length']).toContain(end.reason);
      expect(end.tokens.output).toBeGreaterThan(0);
    });

    it('generates the same text for the same request', async () => {
      const first = await collectResponse(engine);
      expect((await collectResponse(engine)).text).toBe(first.text);
    });

    it('ends at the token limit', async () => {
      const { end } = await collectResponse(engine, { maxTokens: 2 });
      expect(end.reason).toBe('length');
      expect(end.tokens.output).toBe(2);
    });

    it('ends before a stop text, which is not part of the output', async () => {
      const { text } = await collectResponse(engine);
      const middle = Math.floor(text.length / 2);
      const stop = text.slice(middle, middle + 3);
      const stopped = await collectResponse(engine, { stop: ['never said', stop] });
      expect(stopped.text).toBe(text.slice(0, text.indexOf(stop)));
      expect(stopped.end.reason).toBe('stop');
    });

    it('accepts a conversation with all roles', async () => {
      const { end } = await collectResponse(engine, {
        messages: [
          { role: 'system', text: 'Be short.' },
          {
            role: 'user',
            parts: [
              { kind: 'text', text: 'The' },
              { kind: 'text', text: 'lamp?' },
            ],
          },
          {
            role: 'assistant',
            text: undefined,
            toolCalls: [{ id: 'call_1', name: 'switch_lamp', arguments: '{"on":true}' }],
          },
          { role: 'tool', toolCallId: 'call_1', text: 'It is on.' },
          { role: 'assistant', text: 'On.', toolCalls: [] },
          { role: 'user', parts: [{ kind: 'text', text: 'Thanks' }] },
        ],
        tools: TOOLS,
        toolChoice: 'none',
        maxTokens: 2,
      });
      expect(end.tokens.input).toBeGreaterThan(10);
    });

    it('generates an object in JSON mode', async () => {
      const { text, end } = await collectResponse(engine, { output: { kind: 'json' }, maxTokens: 64 });
      if (end.reason === 'length') return expect(text).toMatch(/^\s*\{/);
      const value: unknown = JSON.parse(text);
      expect(value !== null && typeof value === 'object' && !Array.isArray(value)).toBe(true);
    });

    it('generates JSON that matches a schema', async () => {
      const output = { kind: 'json_schema', name: 'answer', schema: SCHEMA, strict: true } as const;
      const { text, end } = await collectResponse(engine, { output, maxTokens: 64 });
      expect(end.reason).toBe('stop');
      expect(ajv.validate(SCHEMA, JSON.parse(text))).toBe(true);
    });

    it('calls a tool if the tool choice is required', async () => {
      const { calls, end } = await collectResponse(engine, {
        tools: TOOLS,
        toolChoice: 'required',
        maxTokens: 80,
      });
      expect(calls.length).toBeGreaterThan(0);
      for (const call of calls) {
        expect(call.id).not.toBe('');
        const tool = TOOLS.find((each) => each.name === call.name);
        expect(ajv.validate(tool?.parameters ?? false, JSON.parse(call.arguments))).toBe(true);
      }
      expect(end.reason).toBe('tool_calls');
    });

    it('calls the named tool once if parallel calls are disabled', async () => {
      const { calls } = await collectResponse(engine, {
        tools: TOOLS,
        toolChoice: { name: 'set_color' },
        parallelToolCalls: false,
        maxTokens: 80,
      });
      expect(calls.map((call) => call.name)).toEqual(['set_color']);
    });

    it('calls no tool if the tool choice is none', async () => {
      const { calls, text } = await collectResponse(engine, { tools: TOOLS, toolChoice: 'none' });
      expect(calls).toEqual([]);
      expect(text).not.toBe('');
    });

    it('serves several concurrent requests', async () => {
      const both = await Promise.all([
        collectResponse(engine, { fairnessKey: 'org_b' }),
        collectResponse(engine, { maxTokens: 3 }),
      ]);
      expect(both.map(({ text }) => text)).not.toContain('');
    });

    it('does nothing if the signal has already fired', async () => {
      const reason = new Error('gone');
      await expect(collectResponse(engine, {}, AbortSignal.abort(reason))).rejects.toBe(reason);
    });

    it('throws the reason of an abort during generation, and keeps working', async () => {
      const controller = new AbortController();
      const reason = new Error('hung up');
      const consume = async () => {
        for await (const _ of engine.generate(textRequest(), controller.signal)) controller.abort(reason);
      };
      await expect(consume()).rejects.toBe(reason);
      expect((await collectResponse(engine)).text).not.toBe('');
    });

    it('keeps working when a consumer stops early', async () => {
      for await (const _ of engine.generate(textRequest(), never)) break;
      expect((await collectResponse(engine)).text).not.toBe('');
    });

    it('rejects unsupported message parts and names them', async () => {
      for (const part of subject.refusedParts) {
        const messages = [{ role: 'user', parts: [part] } as const];
        await expect(collectResponse(engine, { messages })).rejects.toMatchObject({
          kind: 'invalid_request',
          message: expect.stringContaining(part.kind),
        });
      }
    });

    it('rejects a conversation beyond the known context length', async (context) => {
      if (engine.contextTokens === undefined) context.skip('the engine does not know its context length');
      const text = 'word '.repeat((engine.contextTokens ?? 0) + 1);
      const messages = [{ role: 'user', parts: [{ kind: 'text', text }] } as const];
      await expect(collectResponse(engine, { messages })).rejects.toMatchObject({
        kind: 'invalid_request',
        code: 'context_length_exceeded',
      });
    });
  });
}
