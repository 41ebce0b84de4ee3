/** Collects the function calls of a generation. They are used only when they are complete and valid. */

import { ServiceError } from '../../contract/core/error.ts';
import type { FunctionTool, TextEvent, ToolCall } from '../../contract/engines/text.ts';
import { isRecord } from '../../kit/validation/is-record.ts';

export class ToolCalls {
  readonly #calls = new Map<number, { readonly id: string; readonly name: string; arguments: string }>();

  add(event: Extract<TextEvent, { kind: 'tool_call' | 'tool_arguments' }>): void {
    if (event.kind === 'tool_call') {
      const { index, id, name } = event;
      this.#calls.set(index, { id, name, arguments: '' });
      return;
    }
    const call = this.#calls.get(event.index);
    if (call !== undefined) call.arguments += event.text;
  }

  /**
   * Returns the complete calls, in order.
   * @throws ServiceError `upstream` if a call names no tool or its arguments are not a JSON object.
   */
  complete(tools: readonly FunctionTool[]): ToolCall[] {
    return [...this.#calls]
      .sort(([one], [other]) => one - other)
      .map(([, { id, name, arguments: args }]) => {
        const text = args.trim() === '' ? '{}' : args;
        if (!tools.some((tool) => tool.name === name) || !isJsonObject(text)) throw invalidCall();
        return { id, name, arguments: text };
      });
  }
}

function isJsonObject(text: string): boolean {
  try {
    return isRecord(JSON.parse(text));
  } catch {
    return false;
  }
}

function invalidCall(): ServiceError {
  return new ServiceError('upstream', 'The language model returned an invalid function call.', {
    code: 'upstream_error',
  });
}
