/**
 * How calls of tools are written as text, for models whose template has no words for them: the tags and the
 * fields of Hermes, which many models know. Each call is
 * `<tool_call>{"name":"…","arguments":{…}}</tool_call>`; the grammar of an answer makes sure of it.
 */

import type { FunctionTool, ToolCall } from '../../contract/text.ts';

export const CALL_OPENS = '<tool_call>{"name":"';
export const NAME_ENDS = '","arguments":';
export const CALL_CLOSES = '}</tool_call>';

/** What a model is told of its tools. */
export function toolsText(
  tools: readonly FunctionTool[],
  choice: 'auto' | 'required',
  many: boolean,
): string {
  const definitions = tools.map(({ name, description, parameters }) =>
    JSON.stringify({ name, description, parameters }),
  );
  return [
    'You have these functions, one on each line:',
    ...definitions,
    choice === 'auto'
      ? 'To call one, answer with nothing but this:'
      : `Answer with nothing but ${many ? 'calls' : 'a call'} like this:`,
    callText({ name: 'NAME', arguments: '{}' }),
  ].join('\n');
}

/** A call as an answer holds it. Arguments that are no JSON stand as they are. */
export function callText(call: Pick<ToolCall, 'name' | 'arguments'>): string {
  return `${CALL_OPENS}${call.name}${NAME_ENDS}${call.arguments}${CALL_CLOSES}`;
}

/** What a call gave, as a message of the user. */
export function resultText(text: string): string {
  return `<tool_response>${text}</tool_response>`;
}
