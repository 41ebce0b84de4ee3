/** What a listener says while another speaks: words that take the turn, or a sign of attention. */

/** Whether a transcript takes the turn. */
export type SpeechContent =
  /** No words: noise, a cough, music. */
  | 'none'
  /** Only signs of attention, such as "mhm" or "okay". */
  | 'back_channel'
  | 'words';

/**
 * Signs of attention that do not take the turn (back-channels). Whisper writes the last ones for breath and noise. A word
 * that can answer a question is a back-channel only while the assistant speaks.
 */
const BACK_CHANNELS = [
  ...[
    'mhm',
    'mm',
    'mmm',
    'mmhm',
    'mm hm',
    'mm hmm',
    'mhmm',
    'hm',
    'hmm',
    'hmmm',
    'uh huh',
    'uhhuh',
    'aha',
    'ah',
  ],
  ...[
    'oh',
    'ooh',
    'uh',
    'um',
    'er',
    'eh',
    'huh',
    'ha',
    'haha',
    'wow',
    'yeah',
    'yep',
    'yup',
    'yes',
    'ja',
    'ya',
  ],
  ...[
    'okay',
    'ok',
    'k',
    'okey',
    'right',
    'all right',
    'alright',
    'sure',
    'of course',
    'exactly',
    'absolutely',
  ],
  ...['true', 'indeed', 'great', 'good', 'nice', 'cool', 'fine', 'perfect', 'really', 'interesting', 'i see'],
  ...[
    'i know',
    'got it',
    'gotcha',
    'makes sense',
    'that makes sense',
    'oh my',
    'oh my god',
    'no way',
    'oh no',
  ],
  ...['oh yeah', 'oh i see', 'oh okay', 'ah okay', 'you', 'thank you', 'thanks', 'bye', 'bless you', 'sorry'],
].map((phrase) => phrase.split(' '));

/** Sounds that a transcription describes, such as "[Music]" or "(coughs)". */
const DESCRIBED_SOUND = /\[[^\]]*\]|\([^)]*\)|\*[^*]*\*|♪[^♪]*♪?/g;

/** Classifies a transcript. */
export function speechContent(transcript: string): SpeechContent {
  const words = wordsOf(transcript.replace(DESCRIBED_SOUND, ' '));
  if (words.length === 0) return 'none';
  let at = 0;
  while (at < words.length) {
    const phrase = longestBackChannel(words, at);
    if (phrase === 0) return 'words';
    at += phrase;
  }
  return 'back_channel';
}

/** Words in lower case, without punctuation. */
export function wordsOf(text: string): string[] {
  return (
    text
      .toLowerCase()
      .replace(/['’]/g, '')
      .match(/[\p{L}\p{N}]+/gu) ?? []
  );
}

/** Number of words of the longest back-channel at a position; 0: none. */
function longestBackChannel(words: readonly string[], at: number): number {
  const lengths = BACK_CHANNELS.filter((phrase) => phrase.every((word, i) => words[at + i] === word));
  return Math.max(0, ...lengths.map(({ length }) => length));
}
