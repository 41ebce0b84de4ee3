/**
 * Output of the included language model for generated JSON schemas. A separate library validates it. The tests have some
 * of the schemas.
 */

import { generatedSchemas } from '../../../packages/json-schema-gbnf/testing/generated-schemas.ts';
import { openSmallLlama } from '../../../tools/harness/models/real-llama.ts';
import { type SchemaResponse, schemaResponse } from '../../../tools/harness/models/schema-responses.ts';
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
  const responses: SchemaResponse[] = [];
  try {
    const workers = engines.flatMap((engine) => [...Array(settings.slots).keys()].map(() => engine));
    await Promise.all(
      workers.map(async (engine, worker) => {
        for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
          const [index, schema] = next;
          const response = await schemaResponse(engine, schema, index, `org_${worker}`);
          if (response.error || response.cut)
            console.error(`${JSON.stringify(schema)}\n${response.text}\n${response.error}`);
          responses.push(response);
        }
      }),
    );
  } finally {
    await Promise.all(engines.map((engine) => engine.close()));
  }
  const invalid = responses.filter(({ error }) => error !== undefined).length;
  const cut = responses.filter((response) => response.cut).length;
  const tokens = responses.reduce((sum, response) => sum + response.tokens, 0);
  const counts = (keyword: string) => schemas.filter((each) => JSON.stringify(each).includes(`"${keyword}"`));
  const kinds = ['properties', 'prefixItems', 'anyOf', 'oneOf', 'allOf', '$ref', 'enum', 'pattern', 'format'];
  await report(
    'schemas',
    'Answers of the language model to generated JSON Schemas',
    [
      { measure: 'schemas', ours: responses.length, unit: '' },
      {
        measure: 'responses that are rejected or not valid',
        ours: invalid + SCHEMAS - responses.length,
        unit: '',
        target: 0,
      },
      { measure: 'responses that the model did not end itself', ours: cut, unit: '' },
      { measure: 'tokens of a response, mean', ours: tokens / responses.length, unit: '' },
    ],
    [
      `json-schema-faker generated the schemas with the seed ${SEED}; ajv validated the output of ${settings.weights}.`,
      `The context of the model has ${CONTEXT_TOKENS} tokens for prompt and output.`,
      `Schemas with ${kinds.map((kind) => `${kind}: ${counts(kind).length}`).join(', ')}.`,
    ],
  );
}
