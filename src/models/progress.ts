import { systemClock } from '../kit/clock.ts';

/** Displays the progress of downloads. */
export interface Progress {
  /** Downloads with this total size follow. Called again when another source is tried. */
  startSet?(totalBytes: number): void;
  startDownload(label: string, totalBytes: number): void;
  update(doneBytes: number): void;
  /** The current download is complete. */
  finishDownload(): void;
  /** Writes a separate line, between or during downloads. */
  note(line: string): void;
}

interface Output {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

const BAR_CELLS = 24;
const REDRAW_INTERVAL_MS = 100;
const LINE_INTERVAL_MS = 10_000;

/** Shows a progress bar on a terminal, otherwise a line every ten seconds. */
export function createProgress(output: Output, nowMs: () => number = systemClock.monotonicMs): Progress {
  const bar = output.isTTY === true;
  let label = '';
  let totalBytes = 0;
  let startBytes: number | undefined;
  let doneBytes = 0;
  let startMs = 0;
  let shownMs = 0;

  const draw = (last: boolean): void => {
    shownMs = nowMs();
    const seconds = Math.max((shownMs - startMs) / 1000, 0.001);
    const rate = (doneBytes - (startBytes ?? 0)) / seconds;
    const text = line({ label, doneBytes, totalBytes, rate, seconds, bar, last });
    if (bar) output.write(`\r${text.slice(0, (output.columns ?? 100) - 1)}\u001b[K${last ? '\n' : ''}`);
    else output.write(`${text}\n`);
  };

  return {
    startDownload(name, bytes) {
      label = name;
      totalBytes = bytes;
      startBytes = undefined;
      doneBytes = 0;
      startMs = nowMs();
      // Without a terminal the first line is delayed, so that small files produce only one line.
      shownMs = bar ? Number.NEGATIVE_INFINITY : startMs;
    },
    update(bytes) {
      doneBytes = bytes;
      // Bytes of an earlier run do not count towards the speed.
      startBytes ??= bytes;
      if (nowMs() - shownMs >= (bar ? REDRAW_INTERVAL_MS : LINE_INTERVAL_MS)) draw(false);
    },
    finishDownload() {
      draw(true);
    },
    note(text) {
      output.write(bar ? `\r\u001b[K${text}\n` : `${text}\n`);
    },
  };
}

function line(state: {
  label: string;
  doneBytes: number;
  totalBytes: number;
  rate: number;
  seconds: number;
  bar: boolean;
  last: boolean;
}): string {
  const share = state.totalBytes === 0 ? 1 : Math.min(1, state.doneBytes / state.totalBytes);
  const amount = `${size(state.doneBytes)} of ${size(state.totalBytes)}`;
  const speed = `${size(state.rate)}/s`;
  const left = state.last
    ? `in ${duration(state.seconds)}`
    : `${state.rate > 0 ? duration((state.totalBytes - state.doneBytes) / state.rate) : '–'} left`;
  const percent = `${Math.floor(share * 100)} %`;
  if (!state.bar) return `  ${state.label}: ${percent}, ${amount}, ${speed}, ${left}`;
  const full = Math.round(share * BAR_CELLS);
  const cells = '█'.repeat(full) + '░'.repeat(BAR_CELLS - full);
  return `  ${state.label} ${cells} ${percent.padStart(5)}  ${amount}  ${speed}  ${left}`;
}

function size(bytes: number): string {
  return bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

function duration(seconds: number): string {
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
}
