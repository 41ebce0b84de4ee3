/**
 * What the text clients under test share. Each reads what it is asked as JSON from its first argument, goes
 * through the scenario with its own means, and tells what it got, one JSON object a line.
 */

/** What the test asked for: baseURL, key, model, embedModel, toolChoice, and maxTokens of free texts. */
export const ask = JSON.parse(process.argv[2] ?? '{}');

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

/** What the tool does. */
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

/** Goes through flows in order and tells what each gave, or how it failed. */
export async function tellOf(flows) {
  for (const [flow, run] of Object.entries(flows)) {
    const found = await run().catch((error) => ({ failed: String(error?.stack ?? error) }));
    process.stdout.write(`${JSON.stringify({ flow, ...found })}\n`);
  }
}

/** How a client shows a refusal. `read` finds the status and the code in its error. */
export async function refusal(promise, read) {
  try {
    await promise;
  } catch (error) {
    return read(error);
  }
  return { status: 200 };
}
