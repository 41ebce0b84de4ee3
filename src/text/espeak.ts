/**
 * The English voice of eSpeak NG (in WebAssembly, npm `phonemizer`), for words that are not in the dictionary and for voices
 * that were trained on its phonemes. It is loaded on first use and only through this file, so that it can be replaced or
 * removed (its licence is GPL-3).
 */

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
  return (text) => phonemize(text, voice);
}
