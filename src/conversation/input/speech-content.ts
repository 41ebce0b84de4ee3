/** What a listener says while another speaks: words that take the turn, or a sign of attention. */

/** Whether a transcript takes the turn. */
export type SpeechContent =
  /** No words: noise, a cough, music. */
  | 'none'
  /** Only signs of attention, such as "mhm" or "okay", or one more word that is not known to take the turn. */
  | 'back_channel'
  | 'words';

/**
 * Signs of attention that do not take the turn (back-channels). Whisper writes the last ones for breath and noise. A word
 * that can answer a question is a back-channel only while the assistant speaks.
 */
const BACK_CHANNELS = [
  'uh huh, uhhuh, aha, ah, oh, ooh, uh, um, er, eh, huh, ha, haha, wow, yeah, yep, yup, yes, ja, ya, okay',
  'ok, k, okey, right, all right, alright, sure, of course, exactly, absolutely, true, indeed, great',
  'good, nice, cool, fine, perfect, really, interesting, i see, i know, got it, gotcha, makes sense',
  'that makes sense, oh my, oh my god, no way, oh no, oh yeah, oh i see, oh okay, ah okay, thank you',
  'thanks, bye, bless you, sorry',
]
  .flatMap((phrases) => phrases.split(', '))
  .map((phrase) => phrase.split(' '));

/**
 * Single words that take the turn. Any other single word does not: a transcription model writes an arbitrary one for a sign of
 * attention that it does not recognize ("Israel" for "yeah, yeah"). Longer speech is examined again when it has more words.
 */
const TURN_WORDS: ReadonlySet<string> = new Set(
  [
    'stop wait no nope hold pause quiet silence listen hello hey help cancel enough wrong again repeat pardon please',
    'actually but what why who where when how which operator agent human next skip louder slower faster',
    'stopp halt warte warten moment nein hallo hilfe abbrechen falsch nochmal bitte aber was warum wer wo wann wie genug ruhe',
    'para pare alto espera espere basta hola ayuda perdón qué cómo quién dónde cuándo pero repite repita cancela',
    'arrête arrêtez attends attendez non pardon quoi comment qui où quand pourquoi mais assez aide répétez annule',
    'ferma fermati aspetta aspetti scusa scusi cosa come chi dove quando perché ma aiuto ripeti annulla',
    'não espere chega oi alô ajuda como quem onde mas repete cancela',
    'nee stil hoe wie waar wanneer maar nie czekaj стоп нет подожди подождите что dur hayır bekle',
    '停 等等 不 不是 什么 待って 違う 止めて ストップ いや 何 रुको रुकिए नहीं क्या',
  ].flatMap((words) => words.split(' ')),
);
/** Humming has no vowel: "M-hm", "Mmm", or spelled "M H M". */
const HUMMING = /^[hm]+$/;

/** Sounds that a transcription describes, such as "[Music]" or "(coughs)". */
const DESCRIBED_SOUND = /\[[^\]]*\]|\([^)]*\)|\*[^*]*\*|♪[^♪]*♪?/g;

/** Classifies a transcript. */
export function speechContent(transcript: string): SpeechContent {
  const words = wordsOf(transcript.replace(DESCRIBED_SOUND, ' '));
  if (words.length === 0) return 'none';
  const others: string[] = [];
  for (let at = 0; at < words.length; ) {
    const phrase = longestBackChannel(words, at);
    if (phrase === 0) others.push(words[at] ?? '');
    at += Math.max(1, phrase);
  }
  const takesTurn = others.length > 1 || others.some((word) => TURN_WORDS.has(word));
  return takesTurn ? 'words' : 'back_channel';
}

const WORDS = new Intl.Segmenter(undefined, { granularity: 'word' });

/** Words in lower case, without punctuation, also of languages without spaces between words. */
export function wordsOf(text: string): string[] {
  const segments = WORDS.segment(text.toLowerCase().replace(/['’]/g, ''));
  return Array.from(segments, ({ segment, isWordLike }) => (isWordLike ? segment : '')).filter(Boolean);
}

/** Number of words of the longest back-channel at a position; 0: none. */
function longestBackChannel(words: readonly string[], at: number): number {
  if (HUMMING.test(words[at] ?? '')) return 1;
  const lengths = BACK_CHANNELS.filter((phrase) => phrase.every((word, i) => words[at + i] === word));
  return Math.max(0, ...lengths.map(({ length }) => length));
}
