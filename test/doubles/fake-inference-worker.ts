/**
 * An inference process without a model: a request is a script. Every sample of a job has the value `mark`, so that a test
 * detects mixed audio.
 */

import type { Float32Samples } from '../../src/contract/engines/audio.ts';
import { ModelUnavailableError, type StepModel } from '../../src/inference/pool/model.ts';
import { serveInference } from '../../src/inference/pool/worker-loop.ts';

const RATE_HZ = 24_000;

export interface FakeScript {
  readonly mark: number;
  /** Number of steps with a result. */
  readonly steps: number;
  /** Samples per step, at 24 kHz. */
  readonly samples: number;
  /** Whether each step yields the text `mark.step` instead of samples. */
  readonly words?: boolean;
  /** Whether the first step yields the pid of the process. */
  readonly who?: boolean;
  /** Audio of the request. The first step yields its length and its sum. */
  readonly audio?: Float32Samples;
  /** Duration for which a step blocks the process, in ms. */
  readonly stepMs?: number;
  /** Index of the step at which `failure` occurs. */
  readonly at?: number;
  readonly failure?: 'throw' | 'unavailable' | 'throw-later' | 'reject-later' | 'exit' | 'hang';
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
  /** Whether the load converts files. */
  readonly converts?: boolean;
  /** A file that must exist for the load to succeed. */
  readonly needsFile?: string;
}

serveInference<FakeSpec>(async (spec, _, onImport) => {
  if (spec.converts) onImport();
  if (spec.loadFailure !== undefined) throw new Error(spec.loadFailure);
  if (spec.loadHangs) Bun.sleepSync(3_600_000);
  const { environment } = spec;
  const others = Object.keys(process.env).filter((name) => environment?.includes(name) === false);
  if (environment && others.length > 0) throw new Error(`the environment has ${others.join(', ')}`);
  if (spec.needsFile !== undefined && !(await Bun.file(spec.needsFile).exists())) {
    throw new Error('the file is missing');
  }
  const model: StepModel<FakeScript, FakeResult, FakeDescription> = {
    description: { rateHz: RATE_HZ },
    async *open(script) {
      if (script.who) yield `${process.pid}`;
      if (script.audio) {
        yield `${script.audio.length} ${script.audio.reduce((sum, each) => sum + each, 0)}`;
      }
      for (let step = 0; step < script.steps; step++) {
        if (script.stepMs) Bun.sleepSync(script.stepMs);
        if (step === script.at) fail(script);
        yield script.words ? `${script.mark}.${step}` : new Float32Array(script.samples).fill(script.mark);
      }
    },
    close: async () => undefined,
  };
  return model;
});

function fail({ failure, secret }: FakeScript): void {
  if (failure === 'throw') throw new Error('scripted failure');
  if (failure === 'unavailable') throw new ModelUnavailableError('scripted');
  if (failure === 'throw-later') {
    setTimeout(() => {
      throw new RangeError(`cannot speak ${secret}`);
    });
  }
  if (failure === 'reject-later') void Promise.reject(new RangeError(`cannot speak ${secret}`));
  if (failure === 'exit') process.kill(process.pid, 'SIGKILL');
  if (failure === 'hang') Bun.sleepSync(3_600_000);
}
