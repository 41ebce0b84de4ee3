/** Latency of a turn: the times of its stages after the end of the user's speech. Pure. */

/** Stages in their order. */
export const STAGES = ['decision', 'transcript', 'token', 'audio'] as const;
export type Stage = (typeof STAGES)[number];

/** Times in ms after the end of the input. */
export type StageTimes = Readonly<Partial<Record<Stage, number>>>;

export interface TurnTiming {
  /** Id of the user's item. */
  readonly id: string;
  readonly input: 'voice' | 'button' | 'text';
  /** End of the input: of the speech, of the button, or when the text was sent. Page clock in ms. */
  readonly endMs: number;
  /** Measured by the arrival of events. */
  readonly measured: StageTimes;
  /** Reported by the service. */
  readonly reported: StageTimes;
}

/** Sets the time of a stage, unless it is already set. */
export function withStage(turn: TurnTiming, stage: Stage, nowMs: number): TurnTiming {
  if (turn.measured[stage] !== undefined) return turn;
  const ms = Math.max(0, Math.round(nowMs - turn.endMs));
  return { ...turn, measured: { ...turn.measured, [stage]: ms } };
}

/** The times of a turn: those of the service if it reports them. */
export function stageTimes({ measured, reported }: TurnTiming): StageTimes {
  return { ...measured, ...reported };
}

/** Fields of `timing` in a response. */
const FIELDS: Readonly<Record<Stage, string>> = {
  decision: 'turn_decision_ms',
  transcript: 'transcript_ms',
  token: 'first_token_ms',
  audio: 'first_audio_ms',
};

/** Reads the `timing` of a response. Fields that are missing or not a number are ignored. */
export function parseTiming(value: unknown): StageTimes {
  if (typeof value !== 'object' || value === null) return {};
  const fields = value as Readonly<Record<string, unknown>>;
  return Object.fromEntries(
    STAGES.flatMap((stage) => {
      const ms = fields[FIELDS[stage]];
      return typeof ms === 'number' && Number.isFinite(ms) && ms >= 0 ? [[stage, Math.round(ms)]] : [];
    }),
  );
}

/** A part of the bar of a turn, in ms after the end of the input. */
export interface BarSegment {
  readonly stage: Stage;
  readonly startMs: number;
  readonly endMs: number;
}

/** The consecutive segments of a bar. A stage that ended before an earlier one, such as an early transcript, has no length. */
export function barSegments(times: StageTimes): readonly BarSegment[] {
  const segments: BarSegment[] = [];
  let startMs = 0;
  for (const stage of STAGES) {
    const ms = times[stage];
    if (ms === undefined) continue;
    const endMs = Math.max(startMs, ms);
    segments.push({ stage, startMs, endMs });
    startMs = endMs;
  }
  return segments;
}
