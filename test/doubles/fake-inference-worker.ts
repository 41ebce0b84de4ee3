/**
 * An inference process without a model: a request is a script. Every sample of a job has the value `mark`,
 * so that mixed audio can be seen.
 */

import type { Float32Samples } from '../../src/contract/engines/audio.ts';
import type { StepModel } from '../../src/engines/pool/model.ts';
import { serveInference } from '../../src/engines/pool/worker-loop.ts';

const RATE_HZ = 24_000;

export interface FakeScript {
  readonly mark: number;
  /** Passes that give a result. */
  readonly passes: number;
  /** Samples of one pass, at 24 kHz. */
  readonly samples: number;
  /** Each pass gives `mark.pass` instead of samples. */
  readonly words?: boolean;
  /** The first pass gives the number of the process. */
  readonly who?: boolean;
  /** Audio to hear: the first pass gives its length and its sum. */
  readonly audio?: Float32Samples;
  /** How long a pass blocks the process. */
  readonly passMs?: number;
  /** Index of the pass at which something else happens. */
  readonly at?: number;
  readonly fault?: 'throw' | 'throw-later' | 'reject-later' | 'exit' | 'hang';
  /** A private error message, which must not be forwarded. */
  readonly secret?: string;
}

export type FakeResult = Float32Samples | string;

export interface FakeDescription {
  readonly rateHz: number;
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
  const model: StepModel<FakeScript, FakeResult, FakeDescription> = {
    description: { rateHz: RATE_HZ },
    async *open(script) {
      if (script.who) yield `${process.pid}`;
      if (script.audio) {
        yield `${script.audio.length} ${script.audio.reduce((sum, each) => sum + each, 0)}`;
      }
      for (let pass = 0; pass < script.passes; pass++) {
        if (script.passMs) Bun.sleepSync(script.passMs);
        if (pass === script.at) misbehave(script);
        yield script.words ? `${script.mark}.${pass}` : new Float32Array(script.samples).fill(script.mark);
      }
    },
    close: async () => undefined,
  };
  return model;
});

function misbehave({ fault, secret }: FakeScript): void {
  if (fault === 'throw') throw new Error('scripted failure');
  if (fault === 'throw-later') {
    setTimeout(() => {
      throw new RangeError(`cannot speak ${secret}`);
    });
  }
  if (fault === 'reject-later') void Promise.reject(new RangeError(`cannot speak ${secret}`));
  if (fault === 'exit') process.kill(process.pid, 'SIGKILL');
  if (fault === 'hang') Bun.sleepSync(3_600_000);
}
