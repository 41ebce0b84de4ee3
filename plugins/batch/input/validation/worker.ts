/**
 * Entry point of a process that validates one input file and exits. It reads the file from standard input, takes the
 * rules from its arguments and sends the result to the parent process. Never imported by the serving process.
 */

import { readSync } from 'node:fs';
import type { OperationUrl } from '../../../../src/contract/engines/operation.ts';
import { exitWithParent } from '../../../../src/kit/process/child-lifecycle.ts';
import { type InputLine, LineSplitter } from '../line-splitter.ts';
import type { ValidationMessage } from './process.ts';
import { InputValidator, type ValidationResult } from './validator.ts';

const STANDARD_INPUT = 0;
const CHUNK_BYTES = 512 * 1024;
/** Number of bytes after which progress is reported. */
const PROGRESS_BYTES = 8 * 2 ** 20;

const [, , endpoint, maxLineBytes] = process.argv;

/** Reads synchronously: the process has no other work, and asynchronous reads would take longer than the validation. */
function validateInput(): ValidationResult {
  const rules = { endpoint: endpoint as OperationUrl, maxLineBytes: Number(maxLineBytes) };
  const validator = new InputValidator(rules);
  const splitter = new LineSplitter(rules.maxLineBytes);
  const addLines = (lines: Iterable<InputLine>) => {
    for (const line of lines) validator.addLine(line);
  };
  const chunk = new Uint8Array(CHUNK_BYTES);
  let unreportedBytes = 0;
  for (;;) {
    const lengthBytes = readSync(STANDARD_INPUT, chunk);
    if (lengthBytes === 0) break;
    unreportedBytes += lengthBytes;
    if (unreportedBytes >= PROGRESS_BYTES) {
      send({ kind: 'progress' });
      unreportedBytes = 0;
    }
    validator.addBytes(lengthBytes);
    addLines(splitter.split(chunk.subarray(0, lengthBytes)));
    if (validator.isDecided) return validator.result();
  }
  addLines(splitter.flush());
  return validator.result();
}

function send(message: ValidationMessage): void {
  process.send?.(message);
}

exitWithParent();
// Standard error is not logged, because an error message may quote the file. The parent detects the exit.
process.on('uncaughtException', () => process.exit(1));
process.on('unhandledRejection', () => process.exit(1));
send(validateInput());
