/**
 * How calls of tools are written as text. A model whose chat template shows tools was trained on that template's
 * words, so they are learned from it: two calls with known names are rendered, and what stands around them is
 * the words. Other models get words of our own.
 */

import type { NativeMessage, NativeTool } from './native.ts';

/** What an answer of calls is made of: opens name nameEnds arguments (between name nameEnds arguments)* closes. */
export interface CallWords {
  readonly opens: string;
  readonly nameEnds: string;
  readonly between: string;
  readonly closes: string;
}

/** The tags and the fields of Hermes, which many models know. */
export const OWN_WORDS: CallWords = {
  opens: '<tool_call>{"name":"',
  nameEnds: '","arguments":',
  between: '}</tool_call>\n<tool_call>{"name":"',
  closes: '}</tool_call>',
};

const FIRST = 'probe_first';
const SECOND = 'probe_second';
const CALL_ID = 'probe00id';
const SAID = 'probe said';
/** The arguments of both calls, as a template may write them. */
const ARGUMENTS = /\{\s*"probe"\s*:\s*1\s*\}/;

/**
 * Learns the words of a template.
 * @param render makes the text of a conversation that ends with an answer; may throw.
 * @returns undefined for a template that shows no tools, or writes calls otherwise than as a name and JSON.
 */
export function learnCallWords(
  render: (messages: readonly NativeMessage[], tools: readonly NativeTool[]) => string,
): CallWords | undefined {
  const user: NativeMessage = { role: 'user', content: 'probe' };
  const call = (name: string, id: string) =>
    ({ id, type: 'function', function: { name, arguments: '{"probe":1}' } }) as const;
  const tools = [FIRST, SECOND].map(
    (name): NativeTool => ({
      type: 'function',
      function: { name, description: name, parameters: { type: 'object', properties: {} } },
    }),
  );
  let question: string;
  let said: string;
  let calls: string;
  try {
    const tool_calls = [call(FIRST, `${CALL_ID}a`), call(SECOND, `${CALL_ID}b`)];
    question = render([user], tools);
    said = render([user, { role: 'assistant', content: SAID }], tools);
    calls = render([user, { role: 'assistant', content: '', tool_calls }], tools);
  } catch {
    return undefined;
  }
  if (!question.includes(FIRST)) return undefined;
  const from = said.lastIndexOf(SAID);
  const header = said.slice(0, from);
  const footer = said.slice(from + SAID.length);
  if (from < 0 || !calls.startsWith(header) || !calls.endsWith(footer)) return undefined;
  return wordsOf(calls.slice(header.length, calls.length - footer.length));
}

/** The words of a text that holds both calls. */
function wordsOf(text: string): CallWords | undefined {
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
  // What has the call's own id in it can't be said beforehand.
  return known && !`${between}${closes}`.includes(CALL_ID) ? words : undefined;
}
