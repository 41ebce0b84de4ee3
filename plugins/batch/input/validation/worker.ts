/**
 * Entry of a process that checks one input file and ends. The file is its standard input, the rules as arguments,
 * the verdict goes to the parent. Never loaded by the serving process.
 */

import { readSync } from 'node:fs';
import type { OperationUrl } from '../../../../src/contract/engines/operation.ts';
import { exitWithParent } from '../../../../src/kit/process/child-lifecycle.ts';
import { type InputLine, LineCutter } from '../line-splitter.ts';
import type { InputCheckMessage } from './process.ts';
import { InputCheck, type InputVerdict } from './validator.ts';

const STANDARD_INPUT = 0;
const PIECE_BYTES = 512 * 1024;
/** How often it says that it reads. */
const TELL_BYTES = 8 * 2 ** 20;

const [, , endpoint, maxLineBytes] = process.argv;

/** Reads without an event loop, because there is nothing else to do here: it would cost more than the check. */
function check(): InputVerdict {
  const rules = { endpoint: endpoint as OperationUrl, maxLineBytes: Number(maxLineBytes) };
  const check = new InputCheck(rules);
  const cutter = new LineCutter(rules.maxLineBytes);
  const take = (lines: Iterable<InputLine>) => {
    for (const line of lines) check.take(line);
  };
  const piece = new Uint8Array(PIECE_BYTES);
  let untoldBytes = 0;
  for (;;) {
    const lengthBytes = readSync(STANDARD_INPUT, piece);
    if (lengthBytes === 0) break;
    untoldBytes += lengthBytes;
    if (untoldBytes >= TELL_BYTES) {
      say({ kind: 'reads' });
      untoldBytes = 0;
    }
    check.count(lengthBytes);
    take(cutter.cut(piece.subarray(0, lengthBytes)));
    if (check.isOver) return check.verdict();
  }
  take(cutter.end());
  return check.verdict();
}

function say(message: InputCheckMessage): void {
  process.send?.(message);
}

exitWithParent();
// Standard error is not the log: what is thrown may quote the file. The parent sees the exit.
process.on('uncaughtException', () => process.exit(1));
process.on('unhandledRejection', () => process.exit(1));
say(check());
