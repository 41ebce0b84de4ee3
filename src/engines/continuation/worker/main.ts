/** Entry point of a continuation process, which generates one segment. Never loaded by the server. */

import { setSchedIdle } from '../../../inference/workers/cpu-priority.ts';
import { toProcessError } from '../../../inference/workers/process-protocol.ts';
import { exitWithParent } from '../../../kit/process/child-lifecycle.ts';
import type { ContinuationJob, ContinuationResult } from '../shared/protocol.ts';

const send = (message: ContinuationResult) => process.send?.(message);

const receivedJob = new Promise<ContinuationJob>((resolve) => process.once('message', resolve));
exitWithParent();
// Before the codecs are loaded, which takes a while: interactive requests have priority over video generation.
setSchedIdle();
const [{ loadCodecs }, { generateSegment }] = await Promise.all([
  import('../../../media/process/codecs.ts'),
  import('./segment-generator.ts'),
]);
loadCodecs();
generateSegment(await receivedJob).then(
  (seconds) => send({ kind: 'done', seconds }),
  (error) => send({ kind: 'failed', error: toProcessError(error) }),
);
