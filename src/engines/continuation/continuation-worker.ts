/** Entry of a continuation process, which makes one segment and ends. Never loaded by the serving process. */

import { liveAsLongAsTheParent } from '../../kit/child-life.ts';
import { loadCodecs } from '../../media/codecs.ts';
import { goLast } from '../go-last.ts';
import { toFault } from '../process-protocol.ts';
import type { ContinuationJob, FromContinuation } from './continuation-protocol.ts';
import { makeSegment } from './segment-maker.ts';

const send = (message: FromContinuation) => process.send?.(message);

process.on('message', (job: ContinuationJob) => {
  makeSegment(job).then(
    (seconds) => send({ kind: 'done', seconds }),
    (error) => send({ kind: 'failed', fault: toFault(error) }),
  );
});
liveAsLongAsTheParent();
// Live work has the cores first: nobody waits for a video as one waits for an answer.
goLast();
loadCodecs();
