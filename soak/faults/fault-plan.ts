/** Schedule of the faults; pure. */

export interface PlannedFault {
  readonly name: string;
  /** Ms since the start of the load. */
  readonly atMs: number;
}

/** Load without faults at the start, as a baseline. */
const CALM_MS = 60_000;
/** Load without faults at the end, to verify the recovery. */
const AFTERMATH_MS = 120_000;
/** Minimum time between two faults: the duration of most faults and of the recovery. */
const PAUSE_MS = 50_000;

/**
 * Distributes rounds of all faults evenly over the time between the first and the last minutes without faults. A run that
 * is too short for one round has shorter intervals.
 */
export function faultPlan(names: readonly string[], minutes: number): PlannedFault[] {
  const lengthMs = minutes * 60_000;
  const fromMs = Math.min(CALM_MS, lengthMs / 6);
  const untilMs = lengthMs - Math.min(AFTERMATH_MS, lengthMs / 4);
  const rounds = Math.max(1, Math.floor((untilMs - fromMs) / PAUSE_MS / Math.max(1, names.length)));
  const all = Array.from({ length: rounds }, () => names).flat();
  const stepMs = (untilMs - fromMs) / all.length;
  return all.map((name, at) => ({ name, atMs: Math.round(fromMs + at * stepMs) }));
}
