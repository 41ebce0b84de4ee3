import { expect, it } from 'vitest';
import packageJson from '../package.json' with { type: 'json' };
import * as api from './index.ts';

it('has the exports of the README', async () => {
  const readme = await Bun.file(new URL('../README.md', import.meta.url)).text();
  for (const name of ['Grammar', 'schemaRule', 'literal', 'completeJson', 'readGrammar', 'PrefixParser']) {
    expect(api).toHaveProperty(name);
    expect(readme).toContain(`\`${name}`);
  }
  expect(packageJson.exports).toBe('./src/index.ts');
});

it('runs the example of the README', () => {
  const grammar = new api.Grammar(500);
  const schema = { type: 'object', properties: { age: { type: 'integer' } }, required: ['age'] };
  const gbnf = grammar.text(api.schemaRule(grammar, schema));
  expect(api.completeJson(gbnf, '{"age":')).toBe('0}');
});

it('reports an unsupported schema with its own error, which has the keyword and the place', () => {
  const schema = { properties: { a: { type: 'array', minContains: 2, contains: {} } } };
  const convert = () => api.schemaRule(new api.Grammar(500), schema);
  expect(convert).toThrow(api.UnsupportedSchemaError);
  expect(convert).toThrow("'minContains' (at properties/a)");
});
