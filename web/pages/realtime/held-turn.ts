/** A push-to-talk turn. Pure; offsets are ms of sent audio. */
export type HeldTurn =
  | { readonly kind: 'up' }
  | { readonly kind: 'down'; readonly startMs: number }
  /** Released; the audio block in progress still belongs to the turn. */
  | { readonly kind: 'ending'; readonly startMs: number; readonly letGoMs: number };

export const UP: HeldTurn = { kind: 'up' };

/** @param sentMs duration of the audio sent so far. */
export function pressed(turn: HeldTurn, sentMs: number): HeldTurn {
  if (turn.kind === 'down') return turn;
  return { kind: 'down', startMs: turn.kind === 'ending' ? turn.startMs : sentMs };
}

/** @param nowMs page clock; the latency of the turn is measured from here. */
export function released(turn: HeldTurn, nowMs: number): HeldTurn {
  return turn.kind === 'down' ? { kind: 'ending', startMs: turn.startMs, letGoMs: nowMs } : turn;
}

/** A finished turn that may be committed. */
export interface WholeTurn {
  readonly startMs: number;
  readonly endMs: number;
  readonly letGoMs: number;
}

/** Returns the turn that the last audio block completed; undefined if it continues or has no audio. */
export function completed(turn: HeldTurn, sentMs: number): WholeTurn | undefined {
  if (turn.kind !== 'ending' || turn.startMs === sentMs) return undefined;
  return { startMs: turn.startMs, endMs: sentMs, letGoMs: turn.letGoMs };
}
