/**
 * Decides whether speech during the assistant's own speech is an interruption: coughs, noise, echo and back-channels are not
 * (docs/decisions/conversations.md). Pure.
 */

import type { SpeechContent } from './speech-content.ts';

/** Speech in ms after which its words are examined, and again each time this much has been added. */
export const PROBE_MS = 450;
/** An echo may arrive for this time after the end of the playback, in ms. */
export const ECHO_TAIL_MS = 1_000;
/** A back-channel counts as an answer if less than this is left to play when it ends, in ms. */
const ANSWER_MS = 700;

/** What is known about speech that may be an interruption. */
export interface Candidate {
  /** Undefined until its words are examined. */
  readonly content: SpeechContent | undefined;
  readonly isEcho: boolean;
  /** Whether the speech has ended. */
  readonly hasEnded: boolean;
  /** Speech of the assistant that is still to play, in ms; infinite while it is generated. */
  readonly remainingMs: number;
}

/** `accept`: it is a turn of the user. `reject`: it is ignored. */
export type GuardDecision = 'accept' | 'wait' | 'reject';

export function guardDecision({ content, isEcho, hasEnded, remainingMs }: Candidate): GuardDecision {
  if (content === undefined) return 'wait';
  const isRelevant = content === 'words' || (content === 'back_channel' && remainingMs < ANSWER_MS);
  if (isRelevant && !isEcho) return 'accept';
  return hasEnded ? 'reject' : 'wait';
}
