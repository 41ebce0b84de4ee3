/**
 * The English voice of eSpeak NG (in WebAssembly, npm `phonemizer`), for words that are not in the dictionary and for voices
 * that were trained on its phonemes. It is loaded on first use and only through this file, so that it can be replaced or
 * removed (its licence is GPL-3).
 */

/** Interjections without a vowel, which eSpeak spells letter by letter, and words that sound like them. */
const RESPELLED: Readonly<Record<string, string>> = {
  brr: 'burr',
  brrr: 'burr',
  grr: 'gur',
  grrr: 'gur',
  hm: 'hmm',
  'm-hm': 'um-hum',
  mhm: 'um-hum',
  mhmm: 'um-hum',
  mm: 'hmm',
  'mm-hm': 'um-hum',
  'mm-hmm': 'um-hum',
  mmhm: 'um-hum',
  mmhmm: 'um-hum',
  mmm: 'hmm',
  pff: 'puff',
  pfft: 'puff',
  shh: 'shush',
  shhh: 'shush',
};
const WITHOUT_VOWEL = /(?<![\p{L}\p{N}'’-])[bfghmprst]+(?:-hm+)?(?![\p{L}\p{N}'’-])/giu;

/** Replaces interjections by words that eSpeak reads. The number of words is the same. */
export function respellInterjections(text: string): string {
  return text.replace(WITHOUT_VOWEL, (word) => RESPELLED[word.toLowerCase()] ?? word);
}

/** Returns the phonemes of a text in IPA, one line per clause. */
export type Espeak = (text: string) => Promise<readonly string[]>;

/**
 * Loads eSpeak and warms up its English voice: about 0.3 s, once per process. The package installs
 * process-wide handlers that rethrow uncaught errors. They are removed, because they would end the process on
 * any rejected promise.
 */
export async function loadEspeak(voice = 'en-us'): Promise<Espeak> {
  const events = ['uncaughtException', 'unhandledRejection'] as const;
  const before = events.map((event) => new Set<unknown>(process.listeners(event as 'uncaughtException')));
  const { phonemize } = await import('phonemizer');
  await phonemize('ready', voice);
  events.forEach((event, i) => {
    for (const listener of process.listeners(event as 'uncaughtException')) {
      if (before[i]?.has(listener) === false) process.off(event, listener);
    }
  });
  return (text) => phonemize(respellInterjections(text), voice);
}
