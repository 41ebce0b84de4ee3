import fc from 'fast-check';
import { expect, it } from 'vitest';
import { responseApp } from '../../../test/harness/response-app.ts';
import { repetitions } from '../../../test/harness/tier.ts';
import { ResponseBody } from './schema.ts';

const some = fc.constantFrom<unknown>(
  null,
  0,
  -1,
  1.5,
  true,
  '',
  'x',
  'user',
  'message',
  'auto',
  [],
  {},
  [[]],
  [null],
  { type: 'auto' },
  { type: 'json_schema', name: 'n', schema: {} },
);
const anything = fc.oneof(some, fc.jsonValue({ maxDepth: 3 }));
/** Usually this value, sometimes another one. */
const mostly = <T>(usual: fc.Arbitrary<T>) =>
  fc.oneof({ arbitrary: usual, weight: 12 }, { arbitrary: anything, weight: 1 });
const kinds = [
  'message',
  'function_call',
  'function_call_output',
  'reasoning',
  'web_search_call',
  'code_interpreter_call',
  'item_reference',
];
const part = fc.record(
  {
    type: fc.constantFrom('input_text', 'input_image', 'input_file', 'output_text', 'refusal'),
    text: mostly(fc.string()),
    refusal: mostly(fc.string()),
    image_url: mostly(fc.constant('data:image/png;base64,AA')),
    file_data: mostly(fc.string()),
    detail: mostly(fc.constantFrom('auto', 'low')),
  },
  { requiredKeys: ['type'] },
);
const content = mostly(fc.oneof(fc.string(), fc.array(part, { maxLength: 2 })));
const item = fc.record(
  {
    type: mostly(fc.constantFrom(...kinds)),
    role: mostly(fc.constantFrom('user', 'assistant', 'system', 'developer')),
    content,
    id: mostly(fc.string({ minLength: 1 })),
    call_id: mostly(fc.constantFrom('c1', 'c2')),
    name: mostly(fc.constant('f')),
    arguments: mostly(fc.constantFrom('{}', '{')),
    output: content,
    action: anything,
    summary: anything,
    outputs: anything,
  },
  { requiredKeys: [] },
);
const tool = fc.record(
  {
    type: mostly(fc.constantFrom('function', 'web_search', 'code_interpreter', 'mcp')),
    name: fc.constantFrom('f', 'g', '', 5),
    parameters: anything,
    container: anything,
    filters: anything,
    user_location: anything,
  },
  { requiredKeys: [] },
);
const names = Object.keys(ResponseBody.properties).filter(
  (name) => !['model', 'input', 'tools'].includes(name),
);
const others = fc.dictionary(fc.constantFrom(...names), anything, { maxKeys: 1 });
const bodies = fc.record(
  {
    input: mostly(fc.array(item, { maxLength: 3 })),
    tools: fc.oneof({ arbitrary: fc.constant([]), weight: 6 }, fc.array(tool, { maxLength: 2 })),
    others: fc.oneof({ arbitrary: fc.constant({}), weight: 2 }, others),
  },
  { requiredKeys: ['input', 'others'] },
);

it('no body causes an internal error, and every error describes the problem', async () => {
  const { post, send } = await responseApp();
  let answered = 0;
  await fc.assert(
    fc.asyncProperty(
      bodies,
      async ({ others: more, ...body }: { readonly others: Readonly<Record<string, unknown>> }) => {
        const answer = await post({ ...more, ...body, stream: false });
        const { error, id } = await answer.json();
        if (answer.status !== 200) {
          expect([400, 404]).toContain(answer.status);
          expect(error.message).toMatch(/\.$/);
          return;
        }
        answered += 1;
        if (more.store === false) return;
        expect((await send(`/v1/responses/${id}/input_items`)).status).toBe(200);
        expect((await post({ input: 'x', previous_response_id: id })).status).toBe(200);
      },
    ),
    { numRuns: repetitions(134, 400) },
  );
  expect(answered).toBeGreaterThan(10);
});
