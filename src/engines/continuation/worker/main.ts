/** Entry of a continuation process, which makes one segment and ends. Never loaded by the serving process. */

import { liveAsLongAsTheParent } from '../../../kit/process/child-lifecycle.ts';
import { toFault } from '../../workers/process-protocol.ts';
import { goLast } from '../../workers/sched-idle.ts';
import type { ContinuationJob, FromContinuation } from '../shared/protocol.ts';

const send = (message: FromContinuation) => process.send?.(message);

const asked = new Promise<ContinuationJob>((resolve) => process.once('message', resolve));
liveAsLongAsTheParent();
// Live work has the cores first, also before the libraries for files, which take a while to load: nobody waits for a
// video as one waits for an answer.
goLast();
const [{ loadCodecs }, { makeSegment }] = await Promise.all([
  import('../../../media/process/codecs.ts'),
  import('./segment-maker.ts'),
]);
loadCodecs();
makeSegment(await asked).then(
  (seconds) => send({ kind: 'done', seconds }),
  (error) => send({ kind: 'failed', fault: toFault(error) }),
);
