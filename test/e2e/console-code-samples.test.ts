import { Transpiler } from 'bun';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { codeSample, pythonLiteral } from '../../web/pages/responses/code-samples.ts';
import {
  bodyOf,
  EXAMPLE_FUNCTIONS,
  EXAMPLE_SCHEMA,
  NEW_FORM,
} from '../../web/pages/responses/response-form.ts';
import { needs } from '../harness/needs.ts';

const BASE = 'http://127.0.0.1:8080/v1';
const QUOTED = `It's "quoted" \\ and\nbroken, ünïcode 🦉 $API_KEY`;
const built = bodyOf(
  {
    ...NEW_FORM,
    model: 'm',
    functions: EXAMPLE_FUNCTIONS,
    temperature: 0.5,
    store: false,
    format: 'json_schema',
    schema: EXAMPLE_SCHEMA,
  },
  { input: QUOTED, previous: 'resp_1' },
);
if ('fieldErrors' in built) throw new Error('the form is invalid');
const { body } = built;
const whole = { ...body, stream: false };

/** Runs a program with a text as its standard input. Returns its standard output. */
async function output(command: readonly string[], input = ''): Promise<string> {
  const child = Bun.spawn([...command], { stdin: new Blob([input]), stdout: 'pipe', stderr: 'pipe' });
  const [out, errors] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  expect(await child.exited, errors).toBe(0);
  return out;
}

describe('curl', () => {
  test('sends the body of the form with the key of the environment', async () => {
    const shell = `curl() { for word in "$@"; do printf '%s\\0' "$word"; done; }\nAPI_KEY=secret\n`;
    const words = (await output(['bash', '-s'], shell + codeSample('curl', BASE, body))).split('\0');
    expect(words).toContain('-N');
    expect(words).toContain(`${BASE}/responses`);
    expect(words).toContain('Authorization: Bearer secret');
    expect(JSON.parse(words[words.indexOf('-d') + 1] ?? '')).toEqual(body);
    expect(codeSample('curl', BASE, whole)).not.toContain('-N');
  });
});

describe('typescript', () => {
  test.each([
    ['streamed', body],
    ['whole', whole],
  ])('the sample of a %s request is a valid program with the body of the form', (_, each) => {
    const code = codeSample('typescript', BASE, each);
    expect(() => new Transpiler({ loader: 'ts' }).transformSync(code)).not.toThrow();
    const [, argument = ''] = /create\((\{[\s\S]*?\n\})\)/.exec(code) ?? [];
    expect(JSON.parse(argument)).toEqual(each);
  });
});

describe('python', () => {
  const hasPython = Bun.which('python3') !== null;
  test.for([
    ['streamed', body],
    ['whole', whole],
  ] as const)(
    'the sample of a %s request is a valid program with the body of the form',
    async ([, each], context) => {
      needs(context, hasPython, 'Python');
      const code = codeSample('python', BASE, each);
      const read = `
import ast, json, sys
calls = [n for n in ast.walk(ast.parse(sys.stdin.read())) if isinstance(n, ast.Call)]
call = next(c for c in calls if getattr(c.func, "attr", "") == "create")
print(json.dumps({k.arg: ast.literal_eval(k.value) for k in call.keywords}))
`;
      expect(JSON.parse(await output(['python3', '-c', read], code))).toEqual(each);
    },
  );

  test('literals have the same value as any JSON', async (context) => {
    needs(context, hasPython, 'Python');
    const values = fc
      .sample(fc.jsonValue(), { numRuns: 50, seed: 3 })
      .map((value) => JSON.parse(JSON.stringify(value)));
    const read = 'import ast, json, sys\nprint(json.dumps(ast.literal_eval(sys.stdin.read())))';
    expect(JSON.parse(await output(['python3', '-c', read], pythonLiteral(values)))).toEqual(values);
  });
});

test('samples read the key from API_KEY', () => {
  for (const language of ['curl', 'typescript', 'python'] as const) {
    expect(codeSample(language, BASE, body)).toContain('API_KEY');
  }
});
