/** Finds the name that a misspelt one was meant to be. */

/** Maximum length of the compared names. The comparison takes the product of the lengths. */
const MAX_CHARACTERS = 100;

/** Shorter names differ from each other by too little to be confused: `n`, `id`. */
const MIN_CHARACTERS = 4;
/** Minimum length of names in which two letters may be wrong; in shorter ones, that is often another word. */
const LONG_CHARACTERS = 8;

/**
 * Returns the name of which `written` is certainly a misspelling: it differs by one letter, by two if the name is long, or only
 * by capitals and separators (`responseFormat`). A further word makes another name (`conversation_id`). Requests are rejected
 * for a misspelling, so a missed one is better than a wrong one.
 */
export function misspeltName(written: string, names: readonly string[]): string | undefined {
  return nearest(written, names, (name) => {
    if (name.length < MIN_CHARACTERS || wordsIn(written) > wordsIn(name)) return 0;
    return name.length < LONG_CHARACTERS ? 1 : 2;
  });
}

function wordsIn(name: string): number {
  return name.split('_').length;
}

/**
 * Returns the name that resembles `written` most, for a hint in an error message: a third of the characters may differ, or one
 * name is the start of the other.
 * @returns undefined if no name is similar.
 */
export function similarName(written: string, names: readonly string[]): string | undefined {
  const near = nearest(written, names, ({ length }) => Math.floor(Math.max(length, written.length) / 3));
  if (near !== undefined || written.length > MAX_CHARACTERS) return near;
  return names.find((name) => isStartOf(written, name) || isStartOf(name, written));
}

function isStartOf(start: string, name: string): boolean {
  return start.length >= MIN_CHARACTERS && folded(name).startsWith(folded(start));
}

/** The hint of an error message: ` Did you mean 'x'?`, or an empty string if no name is similar. */
export function similarNameHint(written: string, names: readonly string[]): string {
  const name = similarName(written, names);
  return name === undefined ? '' : ` Did you mean '${name}'?`;
}

/** Maximum number of names in a hint. */
const MAX_HINTS = 3;

/** Like {@link similarNameHint}, with all similar names, most similar first: ` Did you mean 'x' or 'y'?`. */
export function similarNamesHint(written: string, names: readonly string[]): string {
  const similar: string[] = [];
  while (similar.length < MAX_HINTS) {
    const name = similarName(
      written,
      names.filter((each) => !similar.includes(each)),
    );
    if (name === undefined) break;
    similar.push(name);
  }
  return similar.length === 0 ? '' : ` Did you mean ${similar.map((name) => `'${name}'`).join(' or ')}?`;
}

/** Maximum length of a value that is quoted. Longer ones are not names. */
const MAX_QUOTED = 64;

/**
 * Quotes the name that a caller requested for an error message, with a space in front: ` 'x'`. Long texts are omitted, because
 * messages must not contain the content of a request.
 */
export function quotedName(name: string): string {
  return name === '' || name.length > MAX_QUOTED || /\p{Cc}/u.test(name) ? '' : ` '${name}'`;
}

function nearest(
  written: string,
  names: readonly string[],
  limitOf: (name: string) => number,
): string | undefined {
  if (written.length > MAX_CHARACTERS) return undefined;
  const wanted = folded(written);
  let best: { readonly name: string; readonly distance: number } | undefined;
  for (const name of names) {
    if (name.length > MAX_CHARACTERS) continue;
    const limit = Math.min(limitOf(name), (best?.distance ?? Number.POSITIVE_INFINITY) - 1);
    const distance = editDistance(wanted, folded(name), limit);
    if (distance <= limit) best = { name, distance };
  }
  return best?.name;
}

/** A name without the differences between notations: `responseFormat`, `response-format` and `response_format`. */
function folded(name: string): string {
  return name.toLowerCase().replaceAll(/[\s_-]/g, '');
}

/**
 * Number of inserted, deleted and replaced characters and of swapped neighbours between two texts (optimal string alignment).
 * @param limit larger distances are returned as infinity, without computing them.
 */
function editDistance(one: string, other: string, limit: number): number {
  if (Math.abs(one.length - other.length) > limit) return Number.POSITIVE_INFINITY;
  let beforeLast: readonly number[] = [];
  let last: readonly number[] = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let row = 1; row <= one.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= other.length; column += 1) {
      const isSame = one[row - 1] === other[column - 1];
      const isSwapped = one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      current[column] = Math.min(
        at(last, column) + 1,
        at(current, column - 1) + 1,
        at(last, column - 1) + (isSame ? 0 : 1),
        row > 1 && column > 1 && isSwapped ? at(beforeLast, column - 2) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    if (Math.min(...current) > limit) return Number.POSITIVE_INFINITY;
    beforeLast = last;
    last = current;
  }
  return at(last, other.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}
