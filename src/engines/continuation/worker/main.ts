/** Entry of a continuation process, which makes one segment and ends. Never loaded by the serving process. */

import { exitWithParent } from '../../../kit/process/child-lifecycle.ts';
import { toProcessError } from '../../workers/process-protocol.ts';
import { setSchedIdle } from '../../workers/sched-idle.ts';
import type { ContinuationJob, FromContinuation } from '../shared/protocol.ts';

const send = (message: FromContinuation) => process.send?.(message);

const asked = new Promise<ContinuationJob>((resolve) => process.once('message', resolve));
exitWithParent();
// Live work has the cores first, also before the libraries for files, which take a while to load: nobody waits for a
// video as one waits for an answer.
setSchedIdle();
const [{ loadCodecs }, { makeSegment }] = await Promise.all([
  import('../../../media/process/codecs.ts'),
  import('./segment-maker.ts'),
]);
loadCodecs();
makeSegment(await asked).then(
  (seconds) => send({ kind: 'done', seconds }),
  (error) => send({ kind: 'failed', fault: toProcessError(error) }),
);
