/**
 * Agreement of the spoken forms with NVIDIA NeMo text processing, on the sentences of bench/corpus/normalization. The differences that
 * are decided (docs/decisions/text-normalization.md) are listed there with the reading of this service: they count as agreement
 * only while that reading is the same.
 */

import { join } from 'node:path';
import { frontEndOf, spokenForm } from '../../../src/text/front-end.ts';
import { hasModule, pinned, runPeer } from '../../python.ts';
import { type Row, report } from '../../report.ts';

const CORPUS = join(import.meta.dirname, '../../corpus/normalization');

/** Maximum share of sentences with undecided differences, in percent. */
const LANGUAGES = [
  { tag: 'en', name: 'English', maxPercent: 8 },
  { tag: 'es', name: 'Spanish', maxPercent: 12 },
] as const;

/** Words that may be present or absent without a difference in meaning, by language. */
const FILLERS: Readonly<Record<string, RegExp>> = { en: /\b(?:and|the|oh?)\b/gu };

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
  for (const { tag, name, maxPercent } of LANGUAGES) {
    const texts = await linesOf(`${tag}.txt`);
    const input = texts.map((text) => `${JSON.stringify({ lang: tag, text })}\n`).join('');
    const answers = await runPeer<OracleLine>('normalization/nemo_peer.py', [], input, python);
    if (answers.length !== texts.length) throw new Error(`${answers.length} of ${texts.length} sentences`);
    const differences = differencesOf(tag, answers, await decidedReadings(`${tag}-differences.tsv`));
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
  tag: string,
  answers: readonly OracleLine[],
  decided: ReadonlyMap<string, { readonly rule: string; readonly reading: string }>,
): Difference[] {
  const frontEnd = frontEndOf(tag);
  if (frontEnd === undefined) throw new Error(`no front end for ${tag}`);
  return answers.flatMap(({ text, spoken }) => {
    const ours = spokenForm(frontEnd, text);
    if (letters(ours, tag) === letters(spoken, tag)) return [];
    const decision = decided.get(text);
    return { text, ours, oracle: spoken, rule: decision?.reading === ours ? decision.rule : undefined };
  });
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
