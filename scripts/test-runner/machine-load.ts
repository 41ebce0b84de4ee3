import { readFileSync } from 'node:fs';

/** The load of the machine, for the reader of a failure: `load 5.1, CPU pressure 61 %, steal 0 %`. */
export function loadOfMachine(): string {
  const load = read('/proc/loadavg').split(' ')[0] || 'unknown';
  const pressure = /some avg10=([\d.]+)/.exec(read('/proc/pressure/cpu'))?.[1];
  // Fields of the first line, in ticks since the start of the machine: user, nice, system, idle, iowait, irq, softirq, steal.
  const ticks = read('/proc/stat').split('\n', 1)[0]?.split(/\s+/).slice(1, 9).map(Number) ?? [];
  const total = ticks.reduce((sum, each) => sum + each, 0);
  const steal = total > 0 ? Math.round((100 * (ticks[7] ?? 0)) / total) : 0;
  return `load ${load}, CPU pressure ${pressure ?? 'unknown'} %, steal ${steal} %`;
}

/** The text of a file of Linux; empty on other platforms. */
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
