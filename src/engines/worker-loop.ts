/** The inference process's side of the protocol: loads models, keeps open jobs, runs the passes asked for. */

import type { Float32Samples } from '../contract/audio.ts';
import type { PassModel, RuntimeOptions } from './pass-model.ts';
import { type FromWorker, type ToWorker, toFault } from './worker-protocol.ts';

/** Longest run of samples in one message, so that the serving thread never decodes a large one at once. */
const MESSAGE_SAMPLES = 24_000;

/** Makes a model from its description; throws what the operator should read. */
export type LoadModel<Spec> = (spec: Spec, runtime: RuntimeOptions) => Promise<PassModel>;

/**
 * Serves the protocol on this process's IPC channel until the serving process goes away. To be called
 * once, by the entry file of an inference process.
 */
export function serveInference<Spec>(load: LoadModel<Spec>): void {
  const models = new Map<string, PassModel>();
  const jobs = new Map<number, ReturnType<PassModel['open']>>();
  const garbage = new TensorGarbage();
  const send = (message: FromWorker) => process.send?.(message);

  const loadAll = async (specs: Readonly<Record<string, Spec>>, runtime: RuntimeOptions) => {
    for (const [id, spec] of Object.entries(specs)) models.set(id, await load(spec, runtime));
    send({
      kind: 'loaded',
      rateHz: Object.fromEntries([...models].map(([id, model]) => [id, model.rateHz])),
    });
  };

  const runPass = async (job: number) => {
    try {
      const step = await jobs.get(job)?.next();
      if (step?.value) sendSamples(send, job, step.value);
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

  process.on('message', (message: ToWorker<Spec>) => {
    switch (message.kind) {
      case 'load':
        loadAll(message.models, message.runtime).catch((error) =>
          send({ kind: 'load-failed', fault: toFault(error) }),
        );
        break;
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
  });
  // The serving process decides when this one ends: a signal to the whole group must not cut requests
  // that are being drained, and a parent that died leaves nobody to work for.
  process.on('SIGINT', () => undefined);
  process.on('SIGTERM', () => undefined);
  process.on('disconnect', () => process.exit(0));
  // Standard error is not the log: a message, which may quote a text, must not reach it.
  for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
    process.on(event, (error: unknown) => {
      const name = error instanceof Error ? error.constructor.name : 'something that is no error';
      process.stderr.write(`Inference process ends: ${name} was not caught.\n`);
      process.exit(1);
    });
  }
  send({ kind: 'up' });
}

/** Copies out of the model's buffer, because a view would carry the whole buffer behind it. */
function sendSamples(send: (message: FromWorker) => void, job: number, samples: Float32Samples): void {
  for (let at = 0; at < samples.length; at += MESSAGE_SAMPLES) {
    send({ kind: 'samples', job, samples: samples.slice(at, at + MESSAGE_SAMPLES) });
  }
}

/** A collection takes 15 to 30 ms, so it waits until nobody does. */
const IDLE_MS = 200;
const MOST_JOBS = 16;

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
    if (this.#jobs < MOST_JOBS) this.#timer = setTimeout(() => this.#collect(), IDLE_MS);
    else this.#collect();
  }

  #collect(): void {
    this.#jobs = 0;
    Bun.gc(true);
  }
}
