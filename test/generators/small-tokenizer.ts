import { WhisperTokenizer } from '../../src/engines/whisper/shared/tokenizer.ts';

/** The GPT-2 character of each byte, implemented independently of the code under test. */
const LETTERS = Array.from({ length: 256 }, (_, byte) => {
  if ((byte > 32 && byte < 127) || (byte > 160 && byte !== 173)) return String.fromCharCode(byte);
  if (byte <= 32) return String.fromCharCode(256 + byte);
  return String.fromCharCode(byte === 173 ? 323 : 256 + 33 + byte - 127);
});

/** A `tokenizer.json` for Whisper: byte tokens, then merges, then special tokens. */
export function smallTokenizerFile(
  merges: readonly (readonly [string, string])[],
  languages: readonly string[] = ['en', 'zh', 'jw'],
) {
  const spelled = (text: string) => [...new TextEncoder().encode(text)].map((byte) => LETTERS[byte]).join('');
  const pairs = merges.map(([left, right]) => [spelled(left), spelled(right)] as const);
  const vocab = Object.fromEntries(
    [...LETTERS, ...pairs.map((pair) => pair.join(''))].map((t, id) => [t, id]),
  );
  const special = [
    'endoftext',
    'startoftranscript',
    ...languages,
    'translate',
    'transcribe',
    'startoflm',
    'startofprev',
    'nospeech',
    'notimestamps',
  ];
  const first = Object.keys(vocab).length;
  return {
    added_tokens: special.map((name, index) => ({ id: first + index, content: `<|${name}|>` })),
    model: { vocab, merges: pairs },
  };
}

/** A multilingual tokenizer with the given merges; all other tokens are single bytes. */
export const smallTokenizer = (merges: readonly (readonly [string, string])[] = []): WhisperTokenizer =>
  new WhisperTokenizer(smallTokenizerFile(merges));
