/**
 * Shared code of the text clients under test. Each client reads its settings as JSON from its first argument, runs the flows of
 * the scenario with its own API, and prints one JSON object per flow.
 */

/** Settings of the test: baseURL, key, model, embedModel, toolChoice, and maxTokens of responses without a schema. */
export const settings = JSON.parse(process.argv[2] ?? '{}');

export const QUESTION = 'Name three birds.';
export const WEATHER = 'What is the weather in Paris and in Oslo?';
export const COLOR = 'Which color, and how many?';
export const INTRODUCTION = 'My name is Ada.';
export const NAME = 'What is my name?';
export const TEXTS = ['The cat sat on the mat.', 'A cat is sitting on a mat.', 'Shares fell on Monday.'];

const CITIES = { Paris: 'sunny', Oslo: 'rain' };

export const TOOL = {
  name: 'get_weather',
  description: 'The weather in a city.',
  parameters: {
    type: 'object',
    properties: { city: { type: 'string', enum: Object.keys(CITIES) } },
    required: ['city'],
    additionalProperties: false,
  },
};

/** Result of a call of {@link TOOL}. */
export function weatherIn({ city }) {
  return `${city}: ${CITIES[city]}`;
}

export const SCHEMA = {
  type: 'object',
  properties: {
    color: { type: 'string', enum: ['red', 'green', 'blue'] },
    count: { type: 'integer', enum: [1, 2, 3] },
  },
  required: ['color', 'count'],
  additionalProperties: false,
};

/** Runs flows in order and prints the result or the error of each. `settings.flows` are the names of those to run, default all. */
export async function runFlows(flows) {
  for (const [flow, run] of Object.entries(flows)) {
    if (settings.flows !== undefined && !settings.flows.includes(flow)) continue;
    const result = await run().catch((error) => ({ failed: String(error?.stack ?? error) }));
    process.stdout.write(`${JSON.stringify({ flow, ...result })}\n`);
  }
}

/** Returns the error of a rejected request. `readError` returns the status and the code of the client's error. */
export async function errorOf(promise, readError) {
  try {
    await promise;
  } catch (error) {
    return readError(error);
  }
  return { status: 200 };
}
