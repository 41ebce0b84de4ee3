import { lineRequest } from '../input/line-request.ts';
import type { InputLine } from '../input/line-splitter.ts';
import type { Checkpoints } from '../results/checkpoints.ts';
import { errorLine, type LineFailure } from '../results/result-line.ts';
import type { EventLoopTurns } from './yield.ts';

/** What lines are told that will never run (openai-wire 3.3). */
export const WRITTEN_OFF: Readonly<Record<'cancelled' | 'expired', LineFailure>> = {
  cancelled: { code: 'batch_cancelled', message: 'The batch was cancelled before this request was run.' },
  expired: {
    code: 'batch_expired',
    message: 'This request could not be run before the completion window of its batch was over.',
  },
};

/**
 * Gives every line without a result an error, and saves it.
 * @returns false when another runner has the batch.
 * @throws what reading and saving throw.
 */
export async function writeOff(
  lines: AsyncIterable<readonly InputLine[]>,
  checkpoints: Checkpoints,
  failure: LineFailure,
  turns: EventLoopTurns,
): Promise<boolean> {
  for await (const some of lines) {
    for (const line of some) {
      while (!checkpoints.hasRoomFor(line)) if ((await checkpoints.save()) === undefined) return false;
      if (!checkpoints.begin(line)) continue;
      const { number, customId } = lineRequest(line);
      checkpoints.end(number, { kind: 'error', text: errorLine(customId, failure), bills: [] });
      if (turns.isDue(line.endBytes - line.startBytes)) await turns.take();
    }
  }
  return (await checkpoints.save()) !== undefined;
}
