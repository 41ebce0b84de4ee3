/**
 * Entry of a process that checks one input file and ends. The file comes on standard input, the rules as arguments,
 * the verdict goes to the parent. Never loaded by the serving process.
 */

import type { OperationUrl } from '../../src/contract/operation.ts';
import { liveAsLongAsTheParent } from '../../src/kit/child-life.ts';
import { InputCheck, type InputVerdict } from './input-check.ts';
import { type InputLine, LineCutter } from './line-cutter.ts';

const [, , endpoint, mostLineBytes] = process.argv;

async function check(): Promise<InputVerdict> {
  const rules = { endpoint: endpoint as OperationUrl, mostLineBytes: Number(mostLineBytes) };
  const check = new InputCheck(rules);
  const cutter = new LineCutter(rules.mostLineBytes);
  const take = (lines: Iterable<InputLine>) => {
    for (const line of lines) check.take(line);
  };
  for await (const bytes of Bun.stdin.stream()) {
    check.count(bytes.length);
    take(cutter.cut(bytes));
    if (check.isOver) return check.verdict();
  }
  take(cutter.end());
  return check.verdict();
}

liveAsLongAsTheParent();
// Standard error is not the log: what is thrown may quote the file. The parent sees the exit.
process.on('uncaughtException', () => process.exit(1));
process.on('unhandledRejection', () => process.exit(1));
process.send?.(await check());
