/** The functions of a session: examples that are switched on, and those that the user wrote as JSON. */

import { isJsonObject, readJson } from '../../../components/json-text.ts';
import { EXAMPLE_TOOLS, type FunctionDefinition } from './example-tools.ts';

const NAME = /^[A-Za-z0-9_.-]{1,64}$/;

/** An example for the field. */
export const TOOLS_PLACEHOLDER = `[{
  "type": "function",
  "name": "find_booking",
  "description": "Finds the booking of a guest.",
  "parameters": { "type": "object", "properties": { "guest": { "type": "string" } }, "required": ["guest"] }
}]`;

/** Parses a JSON list of functions; an empty text is an empty list. Returns an error message for anything else. */
export function readTools(
  text: string,
): { readonly tools: readonly FunctionDefinition[] } | { readonly error: string } {
  if (text.trim() === '') return { tools: [] };
  const read = readJson(text);
  if ('error' in read) return read;
  if (!Array.isArray(read.value)) return { error: 'Enter a list of functions: [{"type": "function", …}].' };
  for (const [index, tool] of read.value.entries()) {
    const error = toolError(tool);
    if (error !== undefined) return { error: `Function ${index + 1}: ${error}` };
  }
  return { tools: read.value };
}

function toolError(tool: unknown): string | undefined {
  if (!isJsonObject(tool) || tool.type !== 'function') return '"type" must be "function".';
  if (typeof tool.name !== 'string' || !NAME.test(tool.name)) {
    return '"name" must have 1 to 64 letters, digits, "_", "." or "-".';
  }
  if (tool.parameters !== undefined && !isJsonObject(tool.parameters))
    return '"parameters" must be a JSON Schema.';
  return undefined;
}

/**
 * All functions of a session. A function of the user replaces an example with the same name.
 * @param exampleNames names of the examples that are switched on.
 */
export function sessionTools(
  exampleNames: readonly string[],
  custom: readonly FunctionDefinition[],
): readonly FunctionDefinition[] {
  return [...runnableTools(exampleNames, custom), ...custom];
}

/** The examples that the browser runs. */
export function runnableTools(
  exampleNames: readonly string[],
  custom: readonly FunctionDefinition[],
): readonly FunctionDefinition[] {
  return EXAMPLE_TOOLS.map(({ definition }) => definition).filter(
    ({ name }) => exampleNames.includes(name) && !custom.some((tool) => tool.name === name),
  );
}
