/**
 * Agreement of the spoken forms with NVIDIA NeMo text processing, on the sentences of bench/corpus/normalization. The differences that
 * are decided (docs/decisions/text-normalization.md) are listed there with the reading of this service: they count as agreement
 * only while that reading is the same.
 */

import { join } from 'node:path';
import { requireFrontEnd, spokenForm } from '../../../src/text/front-end.ts';
import { hasModule, pinned, runPeer } from '../../python.ts';
import { type Row, report } from '../../report.ts';

const CORPUS = join(import.meta.dirname, '../../corpus/normalization');

interface Language {
  readonly tag: string;
  readonly name: string;
  /** Maximum share of sentences with undecided differences, in percent. */
  readonly maxPercent: number;
  /** Whether the baseline reads no number before a full stop, so that it gets the sentences without. */
  readonly hasNoStops?: boolean;
  /** What is compared of an answer of the baseline; absent: the answer. */
  readonly comparable?: (spoken: string, text: string) => string;
}

const LANGUAGES: readonly Language[] = [
  { tag: 'en', name: 'English', maxPercent: 8 },
  { tag: 'es', name: 'Spanish', maxPercent: 12 },
  { tag: 'fr', name: 'French', maxPercent: 12 },
  { tag: 'it', name: 'Italian', maxPercent: 12 },
  { tag: 'pt', name: 'Portuguese', maxPercent: 12, hasNoStops: true },
  { tag: 'hi', name: 'Hindi', maxPercent: 12 },
  { tag: 'ja', name: 'Japanese', maxPercent: 12, comparable: kanaOfNumerals },
  { tag: 'zh', name: 'Mandarin', maxPercent: 12 },
];

/** Words that may be present or absent without a difference in meaning, by language. */
const FILLERS: Readonly<Record<string, RegExp>> = { en: /\b(?:and|the|oh?)\b/gu };

/** A sentence and the answer of the baseline. */
interface OracleLine {
  readonly text: string;
  readonly spoken: string;
}

export async function benchNormalization(): Promise<void> {
  const python = process.env.NEMO_PYTHON ?? 'python3';
  if (!hasModule(python, 'nemo_text_processing')) {
    const packages = await pinned('normalization');
    console.error(
      `normalization: skipped, because ${python} has no module nemo_text_processing. Install ${packages} (1.1 GB, Python 3.11) and set NEMO_PYTHON to its interpreter.`,
    );
    return;
  }
  const rows: Row[] = [];
  const notes = [
    `baseline: ${await pinned('normalization')}; case, punctuation, "and", "the" and "oh" are ignored`,
  ];
  for (const language of LANGUAGES) {
    const { tag, name, maxPercent, hasNoStops = false } = language;
    const texts = await linesOf(`${tag}.txt`);
    const sent = hasNoStops ? texts.map((text) => text.replace(/\.$/, '')) : texts;
    const input = sent.map((text) => `${JSON.stringify({ lang: tag, text })}\n`).join('');
    const lines = await runPeer<{ readonly spoken: string }>('normalization/nemo_peer.py', [], input, python);
    if (lines.length !== texts.length) throw new Error(`${lines.length} of ${texts.length} sentences`);
    const answers = lines.map(({ spoken }, i) => ({ text: texts[i] ?? '', spoken }));
    const differences = differencesOf(language, answers, await decidedReadings(`${tag}-differences.tsv`));
    const undecided = differences.filter(({ rule }) => rule === undefined);
    const percent = (count: number) => (100 * count) / texts.length;
    rows.push(
      { measure: `${name}, ${texts.length} sentences: differ`, ours: percent(differences.length), unit: '%' },
      {
        measure: `${name}: differ without a decision`,
        ours: percent(undecided.length),
        unit: '%',
        target: maxPercent,
      },
    );
    const rules = Map.groupBy(differences, ({ rule }) => rule ?? 'undecided');
    const counts = [...rules].map(([rule, all]) => `${rule} ${all.length}`);
    notes.push(`${name}, differences by rule: ${counts.join(', ')}`);
    for (const { rule, text, ours, oracle } of differences) {
      notes.push(`${tag}, ${rule ?? '**undecided**'}: ${text} → ${ours} (baseline: ${oracle})`);
    }
  }
  await report('normalization', 'Text normalization', rows, notes);
}

/** A sentence that is read differently; `rule` of the decision, if this reading is decided. */
interface Difference {
  readonly text: string;
  readonly ours: string;
  readonly oracle: string;
  readonly rule: string | undefined;
}

function differencesOf(
  { tag, comparable = (spoken) => spoken }: Language,
  answers: readonly OracleLine[],
  decided: ReadonlyMap<string, { readonly rule: string; readonly reading: string }>,
): Difference[] {
  const frontEnd = requireFrontEnd(tag);
  return answers.flatMap(({ text, spoken }) => {
    const ours = spokenForm(frontEnd, text);
    if (letters(ours, tag) === letters(comparable(spoken, text), tag)) return [];
    const decision = decided.get(text);
    return { text, ours, oracle: spoken, rule: decision?.reading === ours ? decision.rule : undefined };
  });
}

const KANJI_DIGITS = '〇一二三四五六七八九';
/** A sign, or a unit or dash after a number, that the baseline left as written. */
const UNREAD_SIGN =
  /[%％‰$€£¥℃°²³×÷=+@〒]|[〇零一二三四五六七八九十百千万億兆](?:[A-Za-z]|[-~〜:][〇零一二三四五六七八九十百千])/u;
const KANJI_SCALES: Readonly<Record<string, number>> = {
  十: 10,
  百: 100,
  千: 1000,
  万: 1e4,
  億: 1e8,
  兆: 1e12,
};

/**
 * The baseline writes numbers in Kanji and leaves their readings to a dictionary; this service writes kana. So that the numbers are
 * compared, those that the baseline wrote in Kanji become digits again, which are read by the rules of this service. An answer with a
 * sign that a voice cannot read stays as it is, and differs.
 */
function kanaOfNumerals(spoken: string, text: string): string {
  if (UNREAD_SIGN.test(spoken)) return spoken;
  const run = '([〇零一二三四五六七八九十百千万億兆]+)';
  const written = spoken
    .replace(
      new RegExp(`${run}分の${run}`, 'gu'),
      (_, below: string, above: string) => `${arabic(above)}/${arabic(below)}`,
    )
    .replace(
      new RegExp(`${run}点([〇零一二三四五六七八九]+)`, 'gu'),
      (match, whole: string, fraction: string) =>
        text.includes(match) ? match : `${arabic(whole)}.${arabic(fraction)}`,
    )
    .replace(new RegExp(run, 'gu'), (match) => (text.includes(match) ? match : arabic(match)));
  return spokenForm(requireFrontEnd('ja'), written);
}

/** 二千二十四 is 2024; without scales, digits stand in a row: 〇五 is 05. */
function arabic(kanji: string): string {
  const digitOf = (char: string) => KANJI_DIGITS.indexOf(char.replace('零', '〇'));
  if (!/[十百千万億兆]/u.test(kanji)) return [...kanji].map(digitOf).join('');
  let [total, group, digit] = [0, 0, 0];
  for (const char of kanji) {
    const scale = KANJI_SCALES[char];
    if (scale === undefined) digit = digitOf(char);
    else if (scale < 1e4) {
      group += (digit || 1) * scale;
      digit = 0;
    } else {
      total += (group + digit || 1) * scale;
      [group, digit] = [0, 0];
    }
  }
  return String(total + group + digit);
}

/** What is compared. The baseline separates letters that are spelled, so spaces are ignored, too. */
function letters(spoken: string, tag: string): string {
  const lower = spoken.normalize('NFC').toLowerCase();
  return (FILLERS[tag] === undefined ? lower : lower.replace(FILLERS[tag], '')).replace(
    /[^\p{L}\p{M}\p{N}]/gu,
    '',
  );
}

async function linesOf(file: string): Promise<string[]> {
  return (await Bun.file(join(CORPUS, file)).text()).trimEnd().split('\n');
}

/** Lines of rule, sentence and reading, separated by tabs. */
async function decidedReadings(file: string) {
  const lines = (await linesOf(file)).map((line) => line.split('\t'));
  return new Map(lines.map(([rule = '', text = '', reading = '']) => [text, { rule, reading }] as const));
}
