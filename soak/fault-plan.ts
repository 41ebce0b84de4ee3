/** Schedule of the faults; pure. */

export interface PlannedFault {
  readonly name: string;
  /** Ms since the load began. */
  readonly atMs: number;
}

/** Load without faults at the start, as a baseline. */
const CALM_MS = 60_000;
/** Load without faults at the end, to verify the recovery. */
const AFTERMATH_MS = 120_000;
/** The least time between two of them, as long as most last, with what follows. */
const PAUSE_MS = 50_000;

/**
 * Faults in turn, evenly from the calm beginning to the calm end of a run: as many rounds of all as there is time for. A run
 * that is too short for one round has them nearer together.
 */
export function faultPlan(names: readonly string[], minutes: number): PlannedFault[] {
  const wholeMs = minutes * 60_000;
  const fromMs = Math.min(CALM_MS, wholeMs / 6);
  const untilMs = wholeMs - Math.min(AFTERMATH_MS, wholeMs / 4);
  const rounds = Math.max(1, Math.floor((untilMs - fromMs) / PAUSE_MS / Math.max(1, names.length)));
  const all = Array.from({ length: rounds }, () => names).flat();
  const stepMs = (untilMs - fromMs) / all.length;
  return all.map((name, at) => ({ name, atMs: Math.round(fromMs + at * stepMs) }));
}
