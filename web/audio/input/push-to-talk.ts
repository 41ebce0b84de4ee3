/** A push-to-talk turn. Pure; offsets are ms of sent audio. */
export type PushToTalkTurn =
  | { readonly kind: 'up' }
  | { readonly kind: 'down'; readonly startMs: number }
  /** Released; the audio block in progress still belongs to the turn. */
  | { readonly kind: 'ending'; readonly startMs: number; readonly releasedMs: number };

export const UP: PushToTalkTurn = { kind: 'up' };

/** @param sentMs duration of the audio sent so far. */
export function pressed(turn: PushToTalkTurn, sentMs: number): PushToTalkTurn {
  if (turn.kind === 'down') return turn;
  return { kind: 'down', startMs: turn.kind === 'ending' ? turn.startMs : sentMs };
}

/** @param nowMs page clock; the latency of the turn is measured from here. */
export function released(turn: PushToTalkTurn, nowMs: number): PushToTalkTurn {
  return turn.kind === 'down' ? { kind: 'ending', startMs: turn.startMs, releasedMs: nowMs } : turn;
}

/** A finished turn that may be committed. */
export interface FinishedTurn {
  readonly startMs: number;
  readonly endMs: number;
  readonly releasedMs: number;
}

/** Returns the turn that the last audio block completed; undefined if it continues or has no audio. */
export function completed(turn: PushToTalkTurn, sentMs: number): FinishedTurn | undefined {
  if (turn.kind !== 'ending' || turn.startMs === sentMs) return undefined;
  return { startMs: turn.startMs, endMs: sentMs, releasedMs: turn.releasedMs };
}
