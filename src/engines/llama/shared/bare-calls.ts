/**
 * Tool calls outside the syntax of the chat template: some models, such as Qwen2.5 Coder, write `{"name": …, "arguments": …}` bare or
 * in a code fence. The grammar of a response permits them with exactly this white space, and no text that could be read as one.
 */

import { literal } from '../../../../packages/json-schema-gbnf/src/index.ts';
import type { ToolCallSyntax } from './tool-call-syntax.ts';

const FENCES = [
  ['', ''],
  ['```json\n', '\n```'],
  ['```\n', '\n```'],
] as const;
/** White space before a key, and before the closing brace. */
const LAYOUTS = [
  ['', ' ', ''],
  ['\n  ', '\n  ', '\n'],
] as const;

/** Syntaxes of bare calls. */
export const BARE_CALLS: readonly ToolCallSyntax[] = FENCES.flatMap(([before, after]) =>
  LAYOUTS.map(([first, next, last]) => ({
    opens: `${before}{${first}"name": "`,
    nameEnds: `",${next}"arguments": `,
    between: `${last}}\n{${first}"name": "`,
    closes: `${last}}${after}`,
  })),
);

/** Limit of the characters of all names, each of which adds an alternative to the grammar of text. */
const MAX_NAME_CHARACTERS = 2000;

const ANY = '[^\\x00]*';
const SPACES = '[ \\t\\n]*';

/**
 * Any text that starts neither like a call in the syntax of the template, nor like a bare call of a tool, nor with white space. It may
 * be JSON, also in a code fence, and contain anything after its start.
 * @param opens start of a call in the syntax of the template.
 * @param names names of the tools.
 */
export function textRule(opens: string, names: readonly string[]): string {
  // A template whose calls start like a bare call.
  if (!permitsBareCalls(opens)) return `(${not(`${opens[0]}{\``, '\\x09-\\x0D\\x20')} ${ANY})?`;
  const object = `"{" ${objectText(names)}`;
  const fenced = `(${not('{')} ${ANY} | ${object})?`;
  const language = unlessPrefix('json', `"\\n" ${fenced}`, '\\n');
  const fence = `(${language} | "\\n" ${fenced})?`;
  const ticks = `"\`" (${not('`')} ${ANY} | "\`" (${not('`')} ${ANY} | "\`" ${fence})?)?`;
  return `(${not(`${opens[0]}{\``, '\\x09-\\x0D\\x20')} ${ANY} | ${object} | ${ticks})?`;
}

/** Whether calls of the template differ from bare calls in their first character. */
export function permitsBareCalls(opens: string): boolean {
  return opens !== '' && !/^[{`]/.test(opens);
}

/** The text of an object after its brace, unless it is a call of a tool. */
function objectText(names: readonly string[]): string {
  const isShort = names.join('').length <= MAX_NAME_CHARACTERS;
  const value = `${not('"')} ${ANY}${isShort ? ` | "\\"" (${otherString(names)})?` : ''}`;
  const named = `${literal('name": ')} (${value})?`;
  return `(${SPACES} (${not('"', ' \\t\\n')} ${ANY} | "\\"" (${otherString(['name'])} | ${named})?)?)?`;
}

/** The rest of a JSON string, after its quotation mark, that is none of the given strings, and any text after it. */
function otherString(strings: readonly string[]): string {
  const isEnd = strings.includes('');
  const rests = Map.groupBy(
    strings.filter((text) => text !== ''),
    (text) => text[0] ?? '',
  );
  const others = `${not(`"${[...rests.keys()].join('')}`)} ${ANY}`;
  const longer = [...rests].map(
    ([first, texts]) => `${literal(first)} (${otherString(texts.map((text) => text.slice(1)))})?`,
  );
  return [others, ...longer, ...(isEnd ? [] : [`"\\"" ${ANY}`])].join(' | ');
}

/** Any text, but after the whole prefix only `then`. @param otherFirst characters that the text does not start with. */
function unlessPrefix(prefix: string, then: string, otherFirst: string): string {
  const [first = '', next] = [prefix[0], prefix.slice(1)];
  const rest = next === '' ? `(${not('', '\\n')} ${ANY} | ${then})?` : `(${unlessPrefix(next, then, '')})?`;
  return `${not(first, otherFirst)} ${ANY} | ${literal(first)} ${rest}`;
}

/** One character except NUL, the given ones, and a range in the syntax of the grammar. */
function not(characters: string, range = ''): string {
  const codes = Array.from(new Set(characters), (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
  return `[^\\x00${codes.join('')}${range}]`;
}
