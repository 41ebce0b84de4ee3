/** Functions that run in the browser, to try function calls without a program. */

/** A function as the service expects it. */
export interface FunctionDefinition {
  readonly type: 'function';
  readonly name: string;
  readonly description?: string;
  /** JSON Schema. */
  readonly parameters?: Readonly<Record<string, unknown>>;
}

/** What the functions use of the browser. */
export interface ToolEnvironment {
  now(): Date;
  /** From 0 to 1, as `Math.random`. */
  random(): number;
}

export interface ExampleTool {
  readonly definition: FunctionDefinition;
  /** User-facing. */
  readonly title: string;
  /** A sentence that makes the model call it. */
  readonly hint: string;
  /** @throws RangeError for invalid arguments. */
  run(args: Readonly<Record<string, unknown>>, environment: ToolEnvironment): unknown;
}

const MAX_DICE = 20;
const MAX_SIDES = 1000;

const currentTime: ExampleTool = {
  title: 'Current time',
  hint: 'What time is it in Tokyo?',
  definition: {
    type: 'function',
    name: 'get_current_time',
    description: 'Returns the current date and time.',
    parameters: {
      type: 'object',
      properties: {
        time_zone: {
          type: 'string',
          description: 'IANA time zone, such as Europe/Rome. Default: local time.',
        },
      },
      additionalProperties: false,
    },
  },
  run({ time_zone: zone }, { now }) {
    const timeZone = typeof zone === 'string' && zone !== '' ? zone : undefined;
    const options = { dateStyle: 'full', timeStyle: 'short', timeZone } as const;
    const format = new Intl.DateTimeFormat('en-GB', options);
    return { time: format.format(now()), time_zone: format.resolvedOptions().timeZone };
  },
};

const rollDice: ExampleTool = {
  title: 'Dice',
  hint: 'Roll two dice.',
  definition: {
    type: 'function',
    name: 'roll_dice',
    description: 'Rolls dice and returns the numbers.',
    parameters: {
      type: 'object',
      properties: {
        count: { type: 'integer', minimum: 1, maximum: MAX_DICE, description: 'Number of dice. Default: 1.' },
        sides: { type: 'integer', minimum: 2, maximum: MAX_SIDES, description: 'Sides per die. Default: 6.' },
      },
      additionalProperties: false,
    },
  },
  run({ count, sides }, { random }) {
    const length = integerOf(count, 1, 1, MAX_DICE);
    const faces = integerOf(sides, 6, 2, MAX_SIDES);
    const rolls = Array.from({ length }, () => 1 + Math.floor(random() * faces));
    return { rolls, total: rolls.reduce((sum, roll) => sum + roll, 0) };
  },
};

export const EXAMPLE_TOOLS: readonly ExampleTool[] = [currentTime, rollDice];

export function findExampleTool(name: string): ExampleTool | undefined {
  return EXAMPLE_TOOLS.find(({ definition }) => definition.name === name);
}

/**
 * Runs a function. Errors are part of the output, so that the model can correct its call.
 * @param args JSON.
 * @returns the output as JSON.
 */
export function runExampleTool(
  tool: ExampleTool,
  args: string,
  environment: ToolEnvironment = { now: () => new Date(), random: Math.random },
): string {
  try {
    return JSON.stringify(tool.run(JSON.parse(args), environment));
  } catch (error) {
    return JSON.stringify({ error: error instanceof Error ? error.message : 'The function failed.' });
  }
}

function integerOf(value: unknown, preset: number, minimum: number, maximum: number): number {
  if (value === undefined || value === null) return preset;
  const number = Number(value);
  if (Number.isInteger(number) && number >= minimum && number <= maximum) return number;
  throw new RangeError(`The number must be an integer from ${minimum} to ${maximum}.`);
}
