/**
 * The sentence rules of native/src/sentences.h and length_limit.h, on a whole text: characters become
 * class letters, and rules are regular expressions over these letters. Slow, because it uses unlimited look-ahead and
 * look-behind, unlike the automaton of the addon.
 */

/** One letter per class, as in native/src/text_class.h. */
function classLetter(character: string): string {
  if (/^[\t \u00A0\u1680\u2000-\u200A\u202F\u205F\u3000]$/u.test(character)) return 's';
  if (/^[\n\r\v\f\u0085\u2028\u2029]$/u.test(character)) return 'n';
  if (/^[.．]$/u.test(character)) return '.';
  if (/^[…‥]$/u.test(character)) return 'e';
  if (/^[?!։؟۔।॥၊။።፧፨។៕‼‽⁇⁈⁉]$/u.test(character)) return '!';
  if (/^[。！？｡]$/u.test(character)) return 'W';
  if (/^[,;:،؛]$/u.test(character)) return 'c';
  if (/^[、，：；､]$/u.test(character)) return 'C';
  if (/^["'`*_~«»‘-‟‹›＂＇]$/u.test(character)) return 'q';
  if (/^[([{¡¿〈《「『【〔〖〘〚〝（［｛｟｢]$/u.test(character)) return 'o';
  if (/^[)\]}²³¹⁰⁴-⁹〉》」』】〕〗〙〛〞〟）］｝｠｣]$/u.test(character)) return 'x';
  if (/^[-‐-―•‣⁃−◦]$/u.test(character)) return 'd';
  if (/^[\p{M}\p{Cf}\p{Emoji_Modifier}\uFF9E\uFF9F]$/u.test(character)) return 'm';
  if (/^[\p{Lu}\p{Lt}]$/u.test(character)) return 'U';
  if (/^\p{Ll}$/u.test(character)) return 'l';
  if (/^\p{Nd}$/u.test(character)) return 'D';
  if (/^[\0-\x7F]$/.test(character)) return 'y';
  if (/^[\p{Extended_Pictographic}\p{Regional_Indicator}]$/u.test(character)) return 'E';
  return 'L';
}

const TITLES =
  /^(Adm|Brig|Br|Capt|Cmdr|Col|Cpl|Cpt|Dr|Fr|Ft|Gen|Gov|Hon|Lt|Maj|Messrs|Mlle|Mme|Mr|Mrs|Ms|Msgr|Mt|Mx|Pres|Prof|Pt|Pvt|Rep|Rev|Rt|Sen|Sgt|Sra|Srta|Supt)$/i;
const CONNECTORS = /^(approx|bzw|ca|cf|d\.h|e\.g|eg|i\.e|ie|incl|resp|viz|vs|z\.b)$/i;
const NUMBERED =
  /^(apt|art|ch|chap|eq|eqs|ex|ext|fig|figs|hwy|max|min|no|nos|nr|op|para|pg|p|pp|rte|sec|tel|ver|vol|vols)$/i;
const NAMES =
  /^(Apr|Assn|Aug|Ave|Blvd|Bros|Co|Corp|Dec|Dept|Est|Feb|Fri|Inc|Jan|Jr|Jul|Jun|LLC|Ltd|Mar|Mon|Nov|Oct|Rd|Sat|Sep|Sept|Sr|St|Ste|Sun|Thu|Thur|Thurs|Tue|Tues|Univ|Wed)$/i;
const STARTERS = new RegExp(
  `^(${[
    'a after all although an and another are as at because before both but by can could did do does each even',
    'every finally first for from have he her here his how however i if in is it its let many maybe meanwhile',
    'most my next no not now of on once one or our perhaps please she should since so some such that the their',
    'then there these they this those though to today was we were what when where while who why with would yes',
    'yet you your',
  ]
    .join(' ')
    .replaceAll(' ', '|')})$`,
  'i',
);

type Meaning = 'sentence' | 'abbreviation' | 'number' | 'uncertain';

function meaningOfStop(word: string, first: boolean): Meaning {
  const length = [...word].length;
  if (length === 0 || length > 12) return 'sentence';
  const enumerator = /^([\p{Lu}\p{Lt}\p{Ll}\p{Nd}]|\p{Nd}{1,3}|[ivxIVX]{1,4})$/u;
  if (first && enumerator.test(word)) return 'abbreviation';
  if (CONNECTORS.test(word)) return 'abbreviation';
  if (NUMBERED.test(word)) return 'number';
  if (/^([\p{Lu}\p{Lt}\p{Ll}]{1,2}\.)+[\p{Lu}\p{Lt}\p{Ll}]{1,2}$/u.test(word) || /^al$/i.test(word))
    return 'uncertain';
  if (/^[\p{Lu}\p{Lt}\p{Ll}]$/u.test(word)) return 'uncertain';
  if (!/^[\p{Lu}\p{Lt}]/u.test(word)) return 'sentence';
  if (TITLES.test(word)) return 'abbreviation';
  return NAMES.test(word) ? 'uncertain' : 'sentence';
}

interface Text {
  readonly characters: readonly string[];
  /** Class letters, one per character. */
  readonly classes: string;
}

const LINE_BREAKS = /[\n\r\v\f\u0085\u2028\u2029]/g;

/** Length of the line before index `at`, combining characters not counted. */
function lineLength({ classes }: Text, at: number): number {
  const start = Math.max(classes.lastIndexOf('n', at - 1) + 1, 0);
  return classes.slice(start, at).replaceAll('m', '').length;
}

/** Index of the next character from `at` that is not a combining mark, or the end. */
function skipMarks(classes: string, at: number): number {
  let i = at;
  while (classes[i] === 'm') i++;
  return i;
}

/** Whether a sentence ends in the gap `from`…`to` after the stop run `run` and the word before it. */
function endsInGap(text: Text, run: string, word: string, first: boolean, from: number, to: number): boolean {
  const { characters, classes } = text;
  const gap = characters.slice(from, to).join('');
  const breaks = gap.replaceAll('\r\n', '\n').match(LINE_BREAKS)?.length ?? 0;
  const next = classes[to] ?? '';
  if (breaks > 1) return true;
  if (/[.e!WxcC]/.test(next)) return false;
  if (run === '') {
    if (breaks === 0 || next === 'l') return false;
    return next === 'd' || lineLength(text, from + gap.search(LINE_BREAKS)) < 60;
  }
  const closed = /[qx]/.test(run);
  const hard = run.includes('!');
  if (run.includes('W') || (hard && !closed)) return true;
  if (next === 'l') return false;
  if (hard) return true;
  const dots = [...run].reduce((sum, kind) => sum + (kind === '.' ? 1 : kind === 'e' ? 2 : 0), 0);
  const meaning = dots > 1 ? 'sentence' : meaningOfStop(word, first);
  // The decisive character follows up to eight quotes and brackets.
  let at = to;
  for (let opened = 0; opened < 8 && /[qo]/.test(classes[at] ?? ''); opened++)
    at = skipMarks(classes, at + 1);
  const decisive = classes[at] ?? '';
  if (decisive === '' || decisive === 'l' || meaning === 'abbreviation') return false;
  if (meaning === 'sentence') return true;
  if (meaning === 'number') return decisive !== 'D';
  let follower = '';
  while (/^[A-Za-z]$/.test(characters[at] ?? '')) {
    follower += characters[at];
    at = skipMarks(classes, at + 1);
  }
  const after = classes[at] ?? '';
  if (/[DULyEl]/.test(after) || (follower.length === 1 && after === '.')) return false;
  return STARTERS.test(follower);
}

/** Whether a guillemet is open before `at`: the last one before it points left. */
function inGuillemets({ characters }: Text, at: number): boolean {
  const before = characters.slice(0, at);
  return before.lastIndexOf('«') > before.lastIndexOf('»');
}

/**
 * Classes of the stop at `at` and of the following quotes, brackets and emoji. After a wide stop, a left quote opens the
 * next sentence. A » can follow white space if a « is open.
 */
function stopRun(text: Text, at: number): string {
  const { characters, classes } = text;
  let end = at;
  while (end < classes.length) {
    const wide = classes.slice(at, end).includes('W');
    if (/[.e!WqxEm]/.test(classes[end] ?? '') && !(wide && /^[“‘]$/.test(characters[end] ?? ''))) {
      end++;
      continue;
    }
    const gap = /^[sn][snm]*/.exec(classes.slice(end))?.[0].length ?? 0;
    const breaks = characters
      .slice(end, end + gap)
      .join('')
      .replaceAll('\r\n', '\n');
    if (gap === 0 || characters[end + gap] !== '»') break;
    if (!inGuillemets(text, end) || (breaks.match(LINE_BREAKS)?.length ?? 0) > 1) break;
    end += gap + 1;
  }
  return classes.slice(at, end);
}

/** End of the sentence that starts at `start`. */
function sentenceEnd(text: Text, start: number): number {
  const { characters, classes } = text;
  let at = start;
  let word = '';
  let first = false;
  let hasWord = false;
  while (at < classes.length) {
    const kind = classes[at] ?? '';
    let run = '';
    if (/[.e!W]/.test(kind)) {
      run = stopRun(text, at);
      at += run.length;
      run = run.replace(/[msn]/g, '');
      hasWord ||= run.includes('E');
    } else if (!/[sn]/.test(kind)) {
      if (/[DULlyE]/.test(kind) || (/[qc]/.test(kind) && word !== '')) {
        if (word === '') first = !hasWord;
        word += characters[at];
        hasWord ||= !/[qc]/.test(kind);
      } else if (kind !== 'm') word = '';
      at++;
      continue;
    }
    if (at === classes.length) return at;
    if (/[sn]/.test(classes[at] ?? '')) {
      const from = at;
      at += /^[snm]+/.exec(classes.slice(at))?.[0].length ?? 0;
      if (at === classes.length) return at;
      if (hasWord && endsInGap(text, run, word, first, from, at)) return at;
      word = '';
      continue;
    }
    const particle = /[qx]/.test(run) && /^[とっ]$/u.test(characters[at] ?? '');
    if (run.includes('W') && hasWord && !particle && classes[at] !== 'C') return at;
    if (word !== '' && /^[.e!]*!/.test(run) && !/[WqxE]/.test(run)) word += '!';
    else word = run === '.' ? `${word}.` : '';
  }
  return at;
}

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });
const IDEOGRAPHIC = /^[\u3040-\u30FF\u3400-\u4DBF\u4E00-\u9FFF\uF900-\uFAFF\u{20000}-\u{3FFFF}]$/u;

/** Possible cuts of a piece that starts at 0, with the length before each cut. */
function cutsOf({
  characters,
  classes,
}: Text): { at: number; length: number; kind: 'clause' | 'word' | 'cluster' }[] {
  const clusters = new Set<number>();
  let at = 0;
  for (const { segment } of graphemes.segment(characters.join(''))) {
    clusters.add(at);
    at += [...segment].length;
  }
  const lead = /^[sn]*/.exec(classes)?.[0].length ?? 0;
  const cuts: ReturnType<typeof cutsOf> = [];
  for (let i = lead + 1; i < classes.length; i++) {
    const kind = classes[i] ?? '';
    if (/[snm]/.test(kind) || !clusters.has(i)) continue;
    const before = classes.slice(Math.max(lead, i - 700), i);
    const length = classes.slice(lead, i).replace(/[sn]+$/, '').length;
    const clause =
      /c[mqx]*[sn][snm]*$/.test(before) ||
      (/C[mqx]*$/.test(before) && !/[qx]/.test(kind)) ||
      /C[mqx]*[sn][snm]*$/.test(before);
    const ideographs = IDEOGRAPHIC.test(characters[i - 1] ?? '') && IDEOGRAPHIC.test(characters[i] ?? '');
    const word = /[sn]m*$/.test(before) || ideographs;
    cuts.push({ at: i, length, kind: clause ? 'clause' : word ? 'word' : 'cluster' });
  }
  return cuts;
}

/** Length of the first piece of the rest of a sentence. */
function pieceLength(text: Text): number {
  const { classes } = text;
  const visible = classes.replace(/^[sn]+/, '').replace(/[sn]+$/, '').length;
  if (visible <= 400) return classes.length;
  const cuts = cutsOf(text);
  const clauses = cuts.filter(({ kind, length }) => kind === 'clause' && length <= 600);
  const clause = clauses.findLast(({ length }) => length <= 400) ?? clauses[0];
  if (clause !== undefined) return clause.at;
  if (visible <= 600) return classes.length;
  const cut =
    cuts.findLast(({ kind, length }) => kind === 'word' && length <= 600) ??
    cuts.findLast(({ length }) => length <= 600);
  return cut?.at ?? (/^[sn]*/.exec(classes)?.[0].length ?? 0) + 600;
}

/** The chunks of a text. */
export function splitByDefinition(input: string): string[] {
  const characters = [...input];
  const text: Text = { characters, classes: characters.map(classLetter).join('') };
  const chunks: string[] = [];
  for (let at = 0; at < characters.length; ) {
    const end = sentenceEnd(text, at);
    while (at < end) {
      const rest = { characters: characters.slice(at, end), classes: text.classes.slice(at, end) };
      const length = pieceLength(rest);
      chunks.push(rest.characters.slice(0, length).join(''));
      at += length;
    }
  }
  return chunks;
}
