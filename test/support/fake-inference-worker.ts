/**
 * An inference process without a model: the text of a request is a script in JSON. Every sample of a job
 * has the value `mark`, so that mixed audio can be seen.
 */

import { serveInference } from '../../src/engines/worker-loop.ts';

export interface FakeScript {
  readonly mark: number;
  /** Passes that yield samples. */
  readonly passes: number;
  /** Samples of one pass, at 24 kHz. */
  readonly samples: number;
  /** How long a pass blocks the process. */
  readonly passMs?: number;
  /** Index of the pass at which something else happens. */
  readonly at?: number;
  readonly fault?: 'throw' | 'throw-later' | 'reject-later' | 'exit' | 'hang';
}

export interface FakeSpec {
  /** Makes the load fail with this message. */
  readonly loadFailure?: string;
  /** Makes the load never end. */
  readonly loadHangs?: boolean;
  /** The only variables that the process may see; the load fails when there are others. */
  readonly environment?: readonly string[];
  /** A file that must exist for the load to succeed. */
  readonly needsFile?: string;
}

serveInference<FakeSpec>(async (spec) => {
  if (spec.loadFailure !== undefined) throw new Error(spec.loadFailure);
  if (spec.loadHangs) Bun.sleepSync(3_600_000);
  const { environment } = spec;
  const others = Object.keys(process.env).filter((name) => environment?.includes(name) === false);
  if (environment && others.length > 0) throw new Error(`the environment has ${others.join(', ')}`);
  if (spec.needsFile !== undefined && !(await Bun.file(spec.needsFile).exists())) {
    throw new Error('the file is gone');
  }
  return {
    rateHz: 24_000,
    async *open(request) {
      const script: FakeScript = JSON.parse(request.text);
      for (let pass = 0; pass < script.passes; pass++) {
        if (script.passMs) Bun.sleepSync(script.passMs);
        if (pass === script.at) misbehave(script.fault, request.text);
        yield new Float32Array(script.samples).fill(script.mark);
      }
    },
    close: async () => undefined,
  };
});

function misbehave(fault: FakeScript['fault'], text: string): void {
  if (fault === 'throw') throw new Error('scripted failure');
  if (fault === 'throw-later') {
    setTimeout(() => {
      throw new RangeError(`cannot speak ${text}`);
    });
  }
  if (fault === 'reject-later') void Promise.reject(new RangeError(`cannot speak ${text}`));
  if (fault === 'exit') process.kill(process.pid, 'SIGKILL');
  if (fault === 'hang') Bun.sleepSync(3_600_000);
}
