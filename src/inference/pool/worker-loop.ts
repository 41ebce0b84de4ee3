/** The worker side of the pool protocol: loads models, holds the open jobs and runs the requested steps. */

import type { RuntimeOptions } from '../runtime/runtime-options.ts';
import { setSchedIdle } from '../workers/cpu-priority.ts';
import { toProcessError } from '../workers/process-protocol.ts';
import { serveProcess } from '../workers/worker-main.ts';
import type { AnyModel } from './model-loader.ts';
import type { FromWorker, LoadModels, ModelDescriptions, ToWorker } from './worker-protocol.ts';

/** Maximum number of samples in one message. Decoding a larger one would block the serving thread. */
const MESSAGE_SAMPLES = 24_000;

/**
 * Loads a model. Throws an error whose message is meant for the operator.
 * @param onImport is called when the files of the model are converted, which happens once on a machine.
 */
export type LoadModel<Spec> = (
  spec: Spec,
  runtime: RuntimeOptions,
  onImport: () => void,
) => Promise<AnyModel>;

/**
 * Serves the protocol on this process's IPC channel until the parent process exits. The entry file of an inference
 * process calls it once.
 */
export function serveInference<Spec>(load: LoadModel<Spec>): void {
  serveProcess<LoadModels<Spec>, ModelDescriptions, ToWorker, FromWorker>('Inference process', (send) => {
    const models = new Map<string, AnyModel>();
    const jobs = new Map<number, ReturnType<AnyModel['open']>>();
    const collector = new TensorCollector();

    const runStep = async (job: number) => {
      try {
        const step = await jobs.get(job)?.next();
        const results = step?.value == null ? [] : [...inMessages(step.value)];
        const last = results.pop();
        for (const result of results) send({ kind: 'result', job, result });
        const done = step?.done !== false;
        if (done) jobs.delete(job);
        send({ kind: 'step-done', job, done, ...(last === undefined ? {} : { result: last }) });
        if (done) collector.jobFinished();
      } catch (error) {
        jobs.delete(job);
        send({ kind: 'step-failed', job, error: toProcessError(error) });
        collector.jobFinished();
      }
    };

    return {
      async load({ models: specs, runtime, lowPriority }, report) {
        if (lowPriority) setSchedIdle();
        for (const [model, spec] of Object.entries(specs)) {
          report({ model, state: 'loading' });
          models.set(model, await load(spec, runtime, () => report({ model, state: 'converting' })));
          report({ model, state: 'loaded' });
        }
        return Object.fromEntries([...models].map(([id, { description }]) => [id, description]));
      },
      receive(message) {
        switch (message.kind) {
          case 'step': {
            const model = message.open && models.get(message.open.model);
            if (model) jobs.set(message.job, model.open(message.open.request));
            collector.busy();
            void runStep(message.job);
            break;
          }
          case 'close': {
            const job = jobs.get(message.job);
            jobs.delete(message.job);
            // The generator queues the call behind a running step, whose error has its own message.
            job?.return(undefined).catch(() => undefined);
            collector.jobFinished();
            break;
          }
        }
      },
    };
  });
}

/**
 * Splits a result into messages of at most {@link MESSAGE_SAMPLES} samples. The samples are copied, because structured
 * clone would send the whole buffer behind a view. Results that are not samples are sent unchanged.
 */
function* inMessages(result: unknown): Generator<unknown> {
  if (!(result instanceof Float32Array)) {
    yield result;
    return;
  }
  for (let at = 0; at < result.length; at += MESSAGE_SAMPLES) yield result.slice(at, at + MESSAGE_SAMPLES);
}

/** Idle time before a collection. A collection takes 15 to 30 ms and would delay a job. */
const IDLE_MS = 200;
/** Finished jobs after which a collection runs without idle time. */
const MAX_JOBS = 16;

/**
 * Collects the tensors of finished jobs. They lie outside the JavaScript heap, so the garbage collector does not
 * account for their size and lets them accumulate (measured: 60 MB over 70 sentences, compared with none).
 */
class TensorCollector {
  #jobs = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  busy(): void {
    clearTimeout(this.#timer);
  }

  jobFinished(): void {
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
