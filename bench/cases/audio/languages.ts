/**
 * Speech in each language of Kokoro, compared with kokoro-onnx and misaki. `bun run bench languages` measures all languages,
 * `bun run bench languages-es` one.
 */

import { type Float32Samples, LISTEN_RATE_HZ } from '../../../src/contract/engines/audio.ts';
import { requireFrontEnd } from '../../../src/text/front-end.ts';
import { CORPUS_LANGUAGES, type CorpusLanguage, languageTexts } from '../../corpus/languages.ts';
import { comparePhonemes } from '../../languages/phonemes.ts';
import { baselineAudio, openSpeakingAndListening, type SpokenAudio } from '../../languages/round-trip.ts';
import { type TextErrors, textErrors } from '../../languages/text-errors.ts';
import { alignedWordErrors, type BoundaryError } from '../../languages/word-times.ts';
import { pinned } from '../../python.ts';
import { type Row, report } from '../../report.ts';
import { launchBenchService, type Service, speak } from '../../service.ts';
import { median } from '../../statistics.ts';

const MAX_ERROR_RATIO = 1.15;
const MAX_DIFFERENT_PERCENT = { zh: 5, ja: 5, others: 3 } as const;
const MAX_FIRST_AUDIO_RATIO = 1.2;
const MAX_FIRST_USE_MS = 400;
const MAX_BOUNDARY_MS = 60;
const MAX_BOUNDARIES_PERCENT = 10;
const BY_CHARACTER: readonly CorpusLanguage[] = ['ja', 'zh', 'hi'];
/** Texts whose first audio is timed. */
const TIMED_TEXTS = 6;
const RUNS = 2;
/**
 * Silence before a text, each of which is heard: a few milliseconds change what Whisper understands. The errors of the same Portuguese
 * audio are 26 to 32 of 469 words for the baseline, and 30 to 37 for this service.
 */
const LEADS_MS = [0, 37, 100];
const NO_ERRORS: TextErrors = { errors: 0, units: 0 };
/** Two voices of each gender, and the texts that each of them speaks. */
const OPENAI_SAMPLE = ['nova', 'shimmer', 'onyx', 'fable'];
const ACCENT_TEXTS = 12;
const MAX_ACCENT_RATIO = 1.25;

type Measured = (language: CorpusLanguage) => Promise<{ readonly rows: Row[]; readonly notes: string[] }>;

/** All languages other than English, and British English, whose phonemes are compared. */
const LANGUAGES = Object.keys(CORPUS_LANGUAGES) as CorpusLanguage[];

export const languageParts: Readonly<Record<string, () => Promise<void>>> = {
  ...Object.fromEntries(LANGUAGES.map((language) => [`languages-${language}`, () => run([language])])),
  'languages-latency': benchLanguageLatency,
  'languages-openai-voices': benchOpenaiVoices,
};

export async function benchLanguages(): Promise<void> {
  await run(LANGUAGES);
  await benchLanguageLatency();
  await benchOpenaiVoices();
}

async function run(languages: readonly CorpusLanguage[]): Promise<void> {
  const rows: Row[] = [];
  const notes = [
    `Baseline: ${await pinned('languages')}, the same weights and voices. Texts without digits, spoken by the default voice of the language.`,
    'Error rate: words, or characters of hi, ja and zh, that Whisper base (svc-stt) misreads; case and punctuation are ignored. Each text is heard three times, after different silences.',
  ];
  for (const language of languages) {
    for (const measure of [phonemesOf, roundTrip]) {
      const measured = await measure(language);
      rows.push(...measured.rows);
      notes.push(...measured.notes);
    }
  }
  const [only] = languages.length === 1 ? languages : [];
  const name = only === undefined ? 'languages' : `languages-${only}`;
  await report(name, 'Speech in each language', rows, notes);
}

const phonemesOf: Measured = async (language) => {
  const texts = await languageTexts(language);
  const tag = language === 'en' ? 'en-GB' : CORPUS_LANGUAGES[language];
  const { sentences, words, differentWords, differences } = await comparePhonemes(tag, texts);
  const percent = MAX_DIFFERENT_PERCENT[language === 'zh' || language === 'ja' ? language : 'others'];
  return {
    rows: [
      {
        measure: `${tag}: sentences with other phonemes than misaki, of ${sentences}`,
        ours: (100 * differences.length) / sentences,
        unit: '%',
        target: percent,
      },
      {
        measure: `${tag}: words with other phonemes than misaki, of ${words}`,
        ours: (100 * differentWords) / words,
        unit: '%',
        target: percent,
      },
    ],
    notes: differences.map(({ text, ours, misaki }) => `${tag}: ${text} → ${ours} (misaki: ${misaki})`),
  };
};

const roundTrip: Measured = async (language) => {
  const tag = CORPUS_LANGUAGES[language];
  const texts = await languageTexts(language);
  const voice = requireFrontEnd(tag).kokoroVoice;
  const baseline = await baselineAudio(tag, voice, texts);
  const by = unitOf(language);
  const spoken = new Map<string, SpokenAudio>();
  const totals: Record<'ours' | 'baseline', Record<number, TextErrors>> = { ours: {}, baseline: {} };
  const notes: string[] = [];
  const engines = await openSpeakingAndListening(voice);
  for (const text of texts) {
    const audio = await engines.speak(text, tag);
    spoken.set(text, audio);
    const samples = { ours: audio.samples, baseline: baseline.get(text) };
    const heard: Record<string, string> = {};
    const errors = { ours: 0, baseline: 0 };
    for (const side of ['ours', 'baseline'] as const) {
      for (const leadMs of LEADS_MS) {
        const transcript =
          samples[side] === undefined
            ? ''
            : await engines.hear(afterSilence(samples[side], leadMs), language);
        const found = textErrors(text, transcript, by);
        heard[side] ??= transcript;
        errors[side] += found.errors;
        totals[side][leadMs] = added(totals[side][leadMs] ?? NO_ERRORS, found);
      }
    }
    if (errors.ours > errors.baseline) {
      notes.push(`${tag}: ${text} → "${heard.ours}" (baseline: "${heard.baseline}")`);
    }
  }
  await engines.close();
  const sumOf = (side: Record<number, TextErrors>) => Object.values(side).reduce(added, NO_ERRORS);
  const [ours, peer] = [sumOf(totals.ours), sumOf(totals.baseline)];
  const rows: Row[] = [
    {
      measure: `${tag}: ${by} error rate of ${texts.length} texts (${ours.errors} and ${peer.errors} of ${ours.units})`,
      ours: percentOf(ours),
      peer: percentOf(peer),
      unit: '%',
      target: MAX_ERROR_RATIO,
    },
  ];
  const spread = LEADS_MS.map(
    (leadMs) => `${totals.ours[leadMs]?.errors} and ${totals.baseline[leadMs]?.errors} after ${leadMs} ms`,
  );
  notes.push(
    `${tag}: errors of this service and the baseline by the silence before the text: ${spread.join(', ')}.`,
  );
  if (language === 'ja' || language === 'es' || language === 'it') {
    rows.push(...boundaryRows(tag, await alignedWordErrors(language, spoken)));
  }
  return { rows, notes };
};

function afterSilence(samples: Float32Samples, ms: number): Float32Samples {
  const lead = Math.round((ms * LISTEN_RATE_HZ) / 1000);
  const padded = new Float32Array(lead + samples.length);
  padded.set(samples, lead);
  return padded;
}

function added(a: TextErrors, b: TextErrors): TextErrors {
  return { errors: a.errors + b.errors, units: a.units + b.units };
}

function boundaryRows(tag: string, errors: readonly BoundaryError[]): Row[] {
  return (['start', 'end'] as const).map((kind) => {
    const all = errors.filter((error) => error.kind === kind).map(({ ms }) => ms);
    const far = all.filter((ms) => Math.abs(ms) > MAX_BOUNDARY_MS);
    return {
      measure: `${tag}: ${kind}s of ${all.length} words more than ${MAX_BOUNDARY_MS} ms from the forced alignment (snfa); median ${median(all)} ms`,
      ours: (100 * far.length) / all.length,
      unit: '%',
      target: MAX_BOUNDARIES_PERCENT,
    };
  });
}

/** How well OpenAI's voices are understood in the languages that are not their own, compared with voices of the language. */
async function benchOpenaiVoices(): Promise<void> {
  const rows: Row[] = [];
  const notes = [
    `${ACCENT_TEXTS} texts of each language, and ${OPENAI_SAMPLE.length} of OpenAI's voices: ${OPENAI_SAMPLE.join(', ')}. Baseline: a female and a male voice of the language, if it has both.`,
    'Error rate: words, or characters of hi, ja and zh, that Whisper base (svc-stt) misreads.',
  ];
  const engines = await openSpeakingAndListening(requireFrontEnd('en-US').kokoroVoice);
  try {
    for (const language of LANGUAGES.filter((each) => each !== 'en')) {
      const all = await languageTexts(language);
      const texts = all.filter((_, index) => index % (all.length / ACCENT_TEXTS) === 0);
      const { kokoroVoice, kokoroAccent } = requireFrontEnd(CORPUS_LANGUAGES[language]);
      const own = kokoroAccent ? [kokoroAccent.female.name, kokoroAccent.male.name] : [kokoroVoice];
      const rateOf = async (voices: readonly string[]) => {
        let total = NO_ERRORS;
        for (const voice of voices) {
          let ofVoice = NO_ERRORS;
          for (const text of texts) {
            const { samples } = await engines.speak(text, CORPUS_LANGUAGES[language], voice);
            const heard = await engines.hear(samples, language);
            ofVoice = added(ofVoice, textErrors(text, heard, unitOf(language)));
          }
          notes.push(`${language}: ${voice} ${percentOf(ofVoice).toFixed(1)} %`);
          total = added(total, ofVoice);
        }
        return percentOf(total);
      };
      rows.push({
        measure: `${language}: ${unitOf(language)} error rate of OpenAI's voices`,
        ours: await rateOf(OPENAI_SAMPLE),
        peer: await rateOf([...new Set(own)]),
        unit: '%',
        target: MAX_ACCENT_RATIO,
      });
    }
  } finally {
    await engines.close();
  }
  await report('languages-openai-voices', "OpenAI's voices in each language", rows, notes);
}

const unitOf = (language: CorpusLanguage) => (BY_CHARACTER.includes(language) ? 'character' : 'word');
const percentOf = ({ errors, units }: TextErrors) => (100 * errors) / units;

/** Time to first audio over HTTP: of the first text in each language, and of texts as long as English ones. */
async function benchLanguageLatency(): Promise<void> {
  const rows: Row[] = [];
  const service = await launchBenchService();
  try {
    await speak(service, 'Warm up.');
    const english = await timed(service, 'en');
    // The first language with phonemes of eSpeak NG, and the languages with a dictionary of their own.
    for (const language of ['es', 'zh', 'ja'] as const) {
      const [text = ''] = await languageTexts(language);
      const first = await firstAudioMs(service, text, language);
      const later: number[] = [];
      for (let i = 0; i < RUNS; i++) later.push(await firstAudioMs(service, text, language));
      rows.push({
        measure: `${language}: first audio of the first text, more than of the next ones`,
        ours: first - median(later),
        unit: 'ms',
        target: MAX_FIRST_USE_MS,
      });
    }
    for (const language of LANGUAGES.filter((each) => each !== 'en')) {
      const pairs = (await timed(service, language)).map((text) => ({
        ...text,
        english: english.toSorted(
          (a, b) => Math.abs(a.audioS - text.audioS) - Math.abs(b.audioS - text.audioS),
        )[0],
      }));
      rows.push({
        measure: `${language}: first audio, baseline: English text of the most similar length of audio`,
        ours: median(pairs.map(({ firstMs }) => firstMs)),
        peer: median(pairs.map((pair) => pair.english?.firstMs ?? Number.NaN)),
        unit: 'ms',
        target: MAX_FIRST_AUDIO_RATIO,
      });
    }
  } finally {
    await service.stop();
  }
  await report('languages-latency', 'Time to first audio in each language', rows, [
    `Over HTTP. Median of ${TIMED_TEXTS} texts, each the best of ${RUNS} runs. The first text in eSpeak's languages starts eSpeak NG.`,
  ]);
}

interface TimedText {
  readonly firstMs: number;
  readonly audioS: number;
}

async function timed(service: Service, language: CorpusLanguage): Promise<TimedText[]> {
  const all: TimedText[] = [];
  const count = language === 'en' ? 2 * TIMED_TEXTS : TIMED_TEXTS;
  for (const text of (await languageTexts(language)).slice(0, count)) {
    const runs: TimedText[] = [];
    for (let i = 0; i < RUNS; i++) {
      const { firstAudioS, audioS } = await speakIn(service, text, language);
      runs.push({ firstMs: 1000 * firstAudioS, audioS });
    }
    all.push({ firstMs: Math.min(...runs.map(({ firstMs }) => firstMs)), audioS: runs[0]?.audioS ?? 0 });
  }
  return all;
}

function speakIn(service: Service, text: string, language: CorpusLanguage) {
  return speak(service, text, 'pcm', 'svc-tts', { language: CORPUS_LANGUAGES[language] });
}

async function firstAudioMs(service: Service, text: string, language: CorpusLanguage): Promise<number> {
  return 1000 * (await speakIn(service, text, language)).firstAudioS;
}
