/** The words of a spoken message that have been played. Pure. */

/** A piece of a transcript with its time in the audio of the message. */
export interface TimedText {
  readonly text: string;
  readonly startMs: number;
}

/** Audio of a message. */
export interface MessageAudio {
  /** Received audio in ms. */
  readonly lengthMs: number;
  /** Whether all audio was received. */
  readonly isComplete: boolean;
}

/** Speaking rate with which words are timed until the audio of their piece is complete. */
const MS_PER_CHARACTER = 65;
/** Share of a word that must have been played for the word to count as heard, the same as in the service. */
const HEARD_SHARE = 0.5;

/**
 * Returns the text that was played up to a time. Words within a piece are timed by their length.
 * @param pieces in order; together they are the transcript.
 * @param playedMs played audio of the message in ms.
 */
export function playedText(pieces: readonly TimedText[], audio: MessageAudio, playedMs: number): string {
  let played = '';
  for (const [index, piece] of pieces.entries()) {
    const words = playedWords(piece, endOf(piece, pieces[index + 1], audio), playedMs);
    played += words;
    if (words !== piece.text) break;
  }
  return played.trimEnd();
}

/** The end of a piece: the next piece, or the end of the audio, or an estimate while audio is arriving. */
function endOf(
  piece: TimedText,
  next: TimedText | undefined,
  { lengthMs, isComplete }: MessageAudio,
): number {
  if (next !== undefined) return next.startMs;
  const estimatedMs = piece.startMs + piece.text.length * MS_PER_CHARACTER;
  return isComplete ? lengthMs : Math.max(lengthMs, estimatedMs);
}

function playedWords({ text, startMs }: TimedText, endMs: number, playedMs: number): string {
  if (playedMs >= endMs) return text;
  const words = text.match(/^\s*\S+\s*|\S+\s*/g) ?? [];
  const msPerCharacter = (endMs - startMs) / Math.max(1, text.length);
  let at = 0;
  for (const word of words) {
    if (startMs + (at + HEARD_SHARE * word.length) * msPerCharacter > playedMs) break;
    at += word.length;
  }
  return text.slice(0, at);
}
