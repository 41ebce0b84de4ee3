/** A turn that lasts as long as somebody holds a button: pure, in ms of sound that was sent. */
export type HeldTurn =
  | { readonly kind: 'up' }
  | { readonly kind: 'down'; readonly startMs: number }
  /** Let go; the block that is being filled still belongs to it. */
  | { readonly kind: 'ending'; readonly startMs: number; readonly letGoMs: number };

export const UP: HeldTurn = { kind: 'up' };

/** @param sentMs sound that was sent so far. */
export function pressed(turn: HeldTurn, sentMs: number): HeldTurn {
  if (turn.kind === 'down') return turn;
  return { kind: 'down', startMs: turn.kind === 'ending' ? turn.startMs : sentMs };
}

/** @param nowMs by the page's clock: from here on the person waits. */
export function released(turn: HeldTurn, nowMs: number): HeldTurn {
  return turn.kind === 'down' ? { kind: 'ending', startMs: turn.startMs, letGoMs: nowMs } : turn;
}

/** A turn that is complete and may be committed. */
export interface WholeTurn {
  readonly startMs: number;
  readonly endMs: number;
  readonly letGoMs: number;
}

/** The turn that the last block completed; undefined when it goes on, or has no sound. */
export function completed(turn: HeldTurn, sentMs: number): WholeTurn | undefined {
  if (turn.kind !== 'ending' || turn.startMs === sentMs) return undefined;
  return { startMs: turn.startMs, endMs: sentMs, letGoMs: turn.letGoMs };
}
