/** The inference process's side of the protocol: loads models, keeps open jobs, runs the passes asked for. */

import { toFault } from '../workers/process-protocol.ts';
import { goLast } from '../workers/sched-idle.ts';
import { serveProcess } from '../workers/worker-main.ts';
import type { PassModel, RuntimeOptions } from './model.ts';
import type { FromWorker, LoadModels, ModelDescriptions, ToWorker } from './worker-protocol.ts';

/** Longest run of samples in one message, so that the serving thread never decodes a large one at once. */
const MESSAGE_SAMPLES = 24_000;

/** A model whose requests and results only its engine knows: the loop hands them through. */
type AnyModel = PassModel<unknown, unknown, unknown>;

/** Makes a model from its description; throws what the operator should read. */
export type LoadModel<Spec> = (spec: Spec, runtime: RuntimeOptions) => Promise<AnyModel>;

/**
 * Serves the protocol on this process's IPC channel until the serving process goes away. To be called
 * once, by the entry file of an inference process.
 */
export function serveInference<Spec>(load: LoadModel<Spec>): void {
  serveProcess<LoadModels<Spec>, ModelDescriptions, ToWorker, FromWorker>('Inference process', (send) => {
    const models = new Map<string, AnyModel>();
    const jobs = new Map<number, ReturnType<AnyModel['open']>>();
    const garbage = new TensorGarbage();

    const runPass = async (job: number) => {
      try {
        const step = await jobs.get(job)?.next();
        if (step?.value != null) {
          for (const result of inMessages(step.value)) send({ kind: 'result', job, result });
        }
        const done = step?.done !== false;
        if (done) jobs.delete(job);
        send({ kind: 'passed', job, done });
        if (done) garbage.jobEnded();
      } catch (error) {
        jobs.delete(job);
        send({ kind: 'failed', job, fault: toFault(error) });
        garbage.jobEnded();
      }
    };

    return {
      async load({ models: specs, runtime, nice }) {
        if (nice) goLast();
        for (const [id, spec] of Object.entries(specs)) models.set(id, await load(spec, runtime));
        return Object.fromEntries([...models].map(([id, { description }]) => [id, description]));
      },
      receive(message) {
        switch (message.kind) {
          case 'open': {
            const model = models.get(message.model);
            if (model) jobs.set(message.job, model.open(message.request));
            break;
          }
          case 'next':
            garbage.busy();
            void runPass(message.job);
            break;
          case 'close': {
            const job = jobs.get(message.job);
            jobs.delete(message.job);
            // Waits in the generator's own queue when a pass is running; a throw there was already reported.
            job?.return().catch(() => undefined);
            garbage.jobEnded();
            break;
          }
        }
      },
    };
  });
}

/**
 * A result as messages carry it: samples in runs, copied out of the model's buffer, because a view would
 * carry the whole buffer behind it; anything else as it is.
 */
function* inMessages(result: unknown): Generator<unknown> {
  if (!(result instanceof Float32Array)) {
    yield result;
    return;
  }
  for (let at = 0; at < result.length; at += MESSAGE_SAMPLES) yield result.slice(at, at + MESSAGE_SAMPLES);
}

/** A collection takes 15 to 30 ms, so it waits until nobody does. */
const IDLE_MS = 200;
const MAX_JOBS = 16;

/**
 * Collects the tensors of jobs that have ended. They lie outside the JavaScript heap, whose own collector
 * does not see how large they are and lets them pile up (measured: 60 MB over 70 sentences, against none).
 */
class TensorGarbage {
  #jobs = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  busy(): void {
    clearTimeout(this.#timer);
  }

  jobEnded(): void {
    clearTimeout(this.#timer);
    this.#jobs += 1;
    if (this.#jobs < MAX_JOBS) this.#timer = setTimeout(() => this.#collect(), IDLE_MS);
    else this.#collect();
  }

  #collect(): void {
    this.#jobs = 0;
    Bun.gc(true);
  }
}
