/**
 * G.711 by the tables of the recommendation: decision values and decoder output values.
 * A linear value is looked up among the decision values; nothing is computed from its bits.
 *
 * ITU-T G.711 (11/88): table 1 (A-law, scale of 4,096) and table 2 (mu-law, scale of 8,159), columns 1 to 3:
 * the segments from the smallest up as [number of intervals, size of an interval].
 */
const ALAW_SEGMENTS = [
  [32, 2],
  [16, 4],
  [16, 8],
  [16, 16],
  [16, 32],
  [16, 64],
  [16, 128],
] as const;

const MULAW_SEGMENTS = [
  [1, 1],
  [15, 2],
  [16, 4],
  [16, 8],
  [16, 16],
  [16, 32],
  [16, 64],
  [16, 128],
  [16, 256],
] as const;

export interface CompandingTable {
  /** Lower decision value of each of the 128 intervals, on the 16-bit scale. */
  readonly decisions: readonly number[];
  /** Decoder output value of each interval, on the 16-bit scale. */
  readonly outputs: readonly number[];
  /** Code of a positive and of a negative value in an interval, as sent on the line. */
  positiveCode(interval: number): number;
  negativeCode(interval: number): number;
}

function decisionValues(segments: readonly (readonly [number, number])[]): number[] {
  const values = [0];
  for (const [count, size] of segments) {
    for (let i = 0; i < count; i++) values.push((values.at(-1) ?? 0) + size);
  }
  return values;
}

/** The value in the middle of each interval; mu-law's first is 0 (table 2, column 8). */
function outputValues(decisions: readonly number[], firstIsZero: boolean): number[] {
  return decisions
    .slice(0, 128)
    .map((low, i) => (i === 0 && firstIsZero ? 0 : (low + (decisions[i + 1] ?? 0)) / 2));
}

const alawDecisions = decisionValues(ALAW_SEGMENTS);
const mulawDecisions = decisionValues(MULAW_SEGMENTS);

/** 13-bit scale: 16-bit values are 8 times as large. Even bits are inverted on the line (table 1, note 2). */
export const ALAW: CompandingTable = {
  decisions: alawDecisions.slice(0, 128).map((value) => value * 8),
  outputs: outputValues(alawDecisions, false).map((value) => value * 8),
  positiveCode: (interval) => (128 + interval) ^ 0x55,
  negativeCode: (interval) => interval ^ 0x55,
};

/** 14-bit scale: 16-bit values are 4 times as large. Codes count down from 255 and 127 (table 2, column 6). */
export const MULAW: CompandingTable = {
  decisions: mulawDecisions.slice(0, 128).map((value) => value * 4),
  outputs: outputValues(mulawDecisions, true).map((value) => value * 4),
  positiveCode: (interval) => 255 - interval,
  negativeCode: (interval) => 127 - interval,
};

/**
 * Code of every 16-bit value, index 0 for -32,768. A value on a decision value belongs to the interval above
 * it, negative ones too, because 16 bits are cut to 14 or 13 towards minus infinity (ITU-T G.191).
 */
export function allCodes(table: CompandingTable): Uint8Array {
  const codes = new Uint8Array(65_536);
  for (let value = -32_768; value < 32_768; value++) {
    let interval = 127;
    if (value >= 0) {
      while (value < (table.decisions[interval] ?? 0)) interval--;
      codes[value + 32_768] = table.positiveCode(interval);
    } else {
      while (interval > 0 && -value <= (table.decisions[interval] ?? 0)) interval--;
      codes[value + 32_768] = table.negativeCode(interval);
    }
  }
  return codes;
}

/** Output value of every code. */
export function allValues(table: CompandingTable): Int16Array {
  const values = new Int16Array(256);
  for (let interval = 0; interval < 128; interval++) {
    const value = table.outputs[interval] ?? 0;
    values[table.positiveCode(interval)] = value;
    values[table.negativeCode(interval)] = -value;
  }
  return values;
}
