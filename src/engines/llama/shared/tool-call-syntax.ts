/**
 * Text syntax of tool calls. A model whose chat template supports tools was trained on the syntax of that template. It is
 * derived by rendering two calls with known names. Other models get a default syntax.
 */

import type { ChatTemplateMessage, ChatTemplateTool } from './conversation.ts';

/** Grammar of a response with calls: opens name nameEnds arguments (between name nameEnds arguments)* closes. */
export interface ToolCallSyntax {
  readonly opens: string;
  readonly nameEnds: string;
  readonly between: string;
  readonly closes: string;
}

/** The format of Hermes, which many models support. */
export const DEFAULT_TOOL_CALL_SYNTAX: ToolCallSyntax = {
  opens: '<tool_call>{"name":"',
  nameEnds: '","arguments":',
  between: '}</tool_call>\n<tool_call>{"name":"',
  closes: '}</tool_call>',
};

const FIRST = 'probe_first';
const SECOND = 'probe_second';
const CALL_ID = 'probe00id';
const REPLY = 'probe said';
/** The arguments of both calls, with optional whitespace. */
const ARGUMENTS = /\{\s*"probe"\s*:\s*1\s*\}/;

/**
 * Derives the syntax of a template.
 * @param render renders a conversation that ends with an assistant message; may throw.
 * @returns undefined for a template without support for tools, or with calls that are not a name and JSON.
 */
export function learnToolCallSyntax(
  render: (messages: readonly ChatTemplateMessage[], tools: readonly ChatTemplateTool[]) => string,
): ToolCallSyntax | undefined {
  const user: ChatTemplateMessage = { role: 'user', content: 'probe' };
  const call = (name: string, id: string) =>
    ({ id, type: 'function', function: { name, arguments: '{"probe":1}' } }) as const;
  const tools = [FIRST, SECOND].map(
    (name): ChatTemplateTool => ({
      type: 'function',
      function: { name, description: name, parameters: { type: 'object', properties: {} } },
    }),
  );
  let question: string;
  let rendered: string;
  let calls: string;
  try {
    const tool_calls = [call(FIRST, `${CALL_ID}a`), call(SECOND, `${CALL_ID}b`)];
    question = render([user], tools);
    rendered = render([user, { role: 'assistant', content: REPLY }], tools);
    calls = render([user, { role: 'assistant', content: '', tool_calls }], tools);
  } catch {
    return undefined;
  }
  if (!question.includes(FIRST)) return undefined;
  const from = rendered.lastIndexOf(REPLY);
  const header = rendered.slice(0, from);
  const footer = rendered.slice(from + REPLY.length);
  if (from < 0 || !calls.startsWith(header) || !calls.endsWith(footer)) return undefined;
  return wordsOf(calls.slice(header.length, calls.length - footer.length));
}

/** Derives the syntax from a text with both calls. */
function wordsOf(text: string): ToolCallSyntax | undefined {
  const [opens, afterFirst, ...moreFirst] = text.split(FIRST);
  const [toSecond = '', afterSecond, ...moreSecond] = afterFirst?.split(SECOND) ?? [];
  if (opens === undefined || afterSecond === undefined || moreFirst.length + moreSecond.length > 0) {
    return undefined;
  }
  const [nameEnds, between] = toSecond.split(ARGUMENTS);
  const [secondNameEnds, closes] = afterSecond.split(ARGUMENTS);
  if (between === undefined || closes === undefined || nameEnds !== secondNameEnds) return undefined;
  const words = { opens, nameEnds: nameEnds ?? '', between, closes };
  const known = [opens, words.nameEnds, between].every((word) => word.trim() !== '');
  // A syntax that contains the id of the call is not supported.
  return known && !`${between}${closes}`.includes(CALL_ID) ? words : undefined;
}
