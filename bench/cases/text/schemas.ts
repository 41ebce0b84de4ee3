/**
 * Output of the included language model for generated JSON schemas. A separate library validates it. The tests have some
 * of the schemas.
 */

import { generatedSchemas } from '../../../packages/json-schema-gbnf/testing/generated-schemas.ts';
import { openSmallLlama } from '../../../tools/harness/models/real-llama.ts';
import { type SchemaAnswer, schemaAnswer } from '../../../tools/harness/models/schema-answers.ts';
import { report } from '../../report.ts';

const SCHEMAS = 200;
const SEED = 1;
/** A language model process uses one core. */
const PROCESSES = 2;
const CONTEXT_TOKENS = 1024;

export async function benchSchemas(): Promise<void> {
  const settings = { kind: 'llama', weights: 'smollm2-135m-instruct', slots: 2 } as const;
  const opened = Array.from({ length: PROCESSES }, () =>
    openSmallLlama({
      settings: { ...settings, contextTokens: CONTEXT_TOKENS, defaultMaxTokens: CONTEXT_TOKENS },
    }),
  );
  const engines = await Promise.all(opened);
  const schemas = generatedSchemas(SCHEMAS, SEED);
  const queue = [...schemas.entries()];
  const answers: SchemaAnswer[] = [];
  try {
    const workers = engines.flatMap((engine) => [...Array(settings.slots).keys()].map(() => engine));
    await Promise.all(
      workers.map(async (engine, worker) => {
        for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
          const [index, schema] = next;
          const answer = await schemaAnswer(engine, schema, index, `org_${worker}`);
          if (answer.error || answer.cut)
            console.error(`${JSON.stringify(schema)}\n${answer.text}\n${answer.error}`);
          answers.push(answer);
        }
      }),
    );
  } finally {
    await Promise.all(engines.map((engine) => engine.close()));
  }
  const invalid = answers.filter(({ error }) => error !== undefined).length;
  const cut = answers.filter((answer) => answer.cut).length;
  const tokens = answers.reduce((sum, answer) => sum + answer.tokens, 0);
  const counts = (keyword: string) => schemas.filter((each) => JSON.stringify(each).includes(`"${keyword}"`));
  const kinds = ['properties', 'prefixItems', 'anyOf', 'oneOf', 'allOf', '$ref', 'enum', 'pattern', 'format'];
  await report(
    'schemas',
    'Answers of the language model to generated JSON Schemas',
    [
      { measure: 'schemas', ours: answers.length, unit: '' },
      {
        measure: 'answers that are refused or not valid',
        ours: invalid + SCHEMAS - answers.length,
        unit: '',
        target: 0,
      },
      { measure: 'answers that the model did not end itself', ours: cut, unit: '' },
      { measure: 'tokens of an answer, mean', ours: tokens / answers.length, unit: '' },
    ],
    [
      `json-schema-faker generated the schemas with the seed ${SEED}; ajv validated the output of ${settings.weights}.`,
      `The context of the model has ${CONTEXT_TOKENS} tokens for prompt and output.`,
      `Schemas with ${kinds.map((kind) => `${kind}: ${counts(kind).length}`).join(', ')}.`,
    ],
  );
}
