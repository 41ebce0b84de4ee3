/** Reads the instances of a MaskBench file as text, because `JSON.parse` changes numbers and the order of members. */

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

/**
 * The member `data` of each element of the member `tests`, without whitespace. Strings are escaped as in `JSON.stringify`;
 * numbers and the order of members are unchanged.
 */
export function compactInstances(file: string): string[] {
  const tokens = (file.match(TOKEN) ?? []).map((token) =>
    token.startsWith('"') ? JSON.stringify(JSON.parse(token)) : token,
  );
  const tests = membersOf(tokens, 0).get('"tests"');
  if (tests === undefined) return [];
  const instances: string[] = [];
  for (let at = tests.from + 1; at < tests.to - 1; ) {
    const end = endOf(tokens, at);
    const data = membersOf(tokens, at).get('"data"');
    if (data !== undefined) instances.push(tokens.slice(data.from, data.to).join(''));
    // After the comma.
    at = end + 1;
  }
  return instances;
}

interface Extent {
  readonly from: number;
  readonly to: number;
}

/** The values of an object that starts at a token. */
function membersOf(tokens: readonly string[], start: number): Map<string, Extent> {
  const members = new Map<string, Extent>();
  for (let at = start + 1; tokens[at] !== undefined && tokens[at] !== '}'; ) {
    const from = at + 2;
    const to = endOf(tokens, from);
    members.set(tokens[at] ?? '', { from, to });
    at = tokens[to] === ',' ? to + 1 : to;
  }
  return members;
}

/** The token after a value. */
function endOf(tokens: readonly string[], start: number): number {
  let depth = 0;
  let at = start;
  do {
    const token = tokens[at] ?? '';
    if (token === '{' || token === '[') depth += 1;
    if (token === '}' || token === ']') depth -= 1;
    at += 1;
  } while (depth > 0 && at < tokens.length);
  return at;
}
