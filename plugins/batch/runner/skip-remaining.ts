import type { EventLoopYielder } from '../../../src/kit/async/event-loop-yielder.ts';
import { lineRequest } from '../input/line-request.ts';
import type { InputLine } from '../input/line-splitter.ts';
import type { CheckpointWriter } from '../results/checkpoints.ts';
import { errorLine, type LineFailure } from '../results/result-line.ts';

/** Errors of lines that never ran (openai-wire 3.3). */
export const SKIP_ERRORS: Readonly<Record<'cancelled' | 'expired', LineFailure>> = {
  cancelled: { code: 'batch_cancelled', message: 'The batch was cancelled before this request was run.' },
  expired: {
    code: 'batch_expired',
    message: 'Batch expired before this request ran.',
  },
};

/**
 * Gives every line without a result an error, and saves it.
 * @returns false if another runner has claimed the batch.
 * @throws the errors of reading and saving.
 */
export async function skipRemaining(
  lines: AsyncIterable<readonly InputLine[]>,
  checkpoints: CheckpointWriter,
  failure: LineFailure,
  yielder: EventLoopYielder,
): Promise<boolean> {
  for await (const chunk of lines) {
    for (const line of chunk) {
      while (!checkpoints.canStart(line)) if ((await checkpoints.save()) === undefined) return false;
      if (!checkpoints.startLine(line)) continue;
      const { number, customId } = lineRequest(line);
      checkpoints.finishLine(number, { kind: 'error', text: errorLine(customId, failure), bills: [] });
      if (yielder.isDue(line.endBytes - line.startBytes)) await yielder.yieldNow();
    }
  }
  return (await checkpoints.save()) !== undefined;
}
