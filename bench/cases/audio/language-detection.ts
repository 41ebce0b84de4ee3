/** Detection of the language of texts to speech: accuracy, time and memory. */

import { detectedLanguage } from '../../../src/text/detected-language.ts';
import { FRONT_ENDS } from '../../../src/text/front-end.ts';
import { CORPUS_LANGUAGES, type CorpusLanguage, languageTexts } from '../../corpus/languages.ts';
import { type Row, report } from '../../report.ts';

const POSSIBLE = { languages: FRONT_ENDS.map(({ language }) => language), usual: 'en-US' };
const MAX_WRONG_PERCENT = 2;
const MAX_FIRST_MS = 5;
const MAX_MS = 1;
const RUNS = 20;

export async function benchLanguageDetection(): Promise<void> {
  const names = Object.keys(CORPUS_LANGUAGES) as CorpusLanguage[];
  const corpus = await Promise.all(names.map(async (name) => ({ name, texts: await languageTexts(name) })));
  const mixed = await languageTexts('en-mixed');
  const memoryBefore = process.memoryUsage.rss();
  const startMs = performance.now();
  detectedLanguage(mixed[0] ?? '', POSSIBLE);
  const firstMs = performance.now() - startMs;
  const memoryMb = (process.memoryUsage.rss() - memoryBefore) / 1e6;
  const notes: string[] = [];
  const rows: Row[] = corpus.map(({ name, texts }) => {
    const wrong = texts.filter((text) => detectedLanguage(text, POSSIBLE) !== CORPUS_LANGUAGES[name]);
    for (const text of wrong)
      notes.push(`${name}, ${detectedLanguage(text, POSSIBLE) ?? 'uncertain'}: ${text}`);
    return {
      measure: `${name}: texts in another language or uncertain, of ${texts.length}`,
      ours: (100 * wrong.length) / texts.length,
      unit: '%',
      target: MAX_WRONG_PERCENT,
    };
  });
  const mistaken = mixed.filter((text) => (detectedLanguage(text, POSSIBLE) ?? 'en-US') !== 'en-US');
  for (const text of mistaken) notes.push(`English, ${detectedLanguage(text, POSSIBLE)}: ${text}`);
  rows.push(
    {
      measure: `English with names, foreign words, code, lists and numbers: texts in another language, of ${mixed.length}`,
      ours: mistaken.length,
      unit: '',
      target: 0,
    },
    { measure: 'first text', ours: firstMs, unit: 'ms', target: MAX_FIRST_MS },
    { measure: 'memory of the first text', ours: memoryMb, unit: 'MB' },
    {
      measure: 'slowest paragraph of 1,000 characters',
      ours: Math.max(...corpus.map(({ texts }) => bestMs(texts.join(' ').repeat(2)))),
      unit: 'ms',
      target: MAX_MS,
    },
  );
  await report('language-detection', 'Language detection of texts to speech', rows, [
    'Of each language, 60 texts without digits. Languages: those of Kokoro; the usual one is American English.',
    `Best of ${RUNS} runs.`,
    ...notes,
  ]);
}

function bestMs(paragraph: string): number {
  const times = Array.from({ length: RUNS }, () => {
    const startMs = performance.now();
    detectedLanguage(paragraph, POSSIBLE);
    return performance.now() - startMs;
  });
  return Math.min(...times);
}
