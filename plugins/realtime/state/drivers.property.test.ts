/**
 * Runs the machines with the classes that perform their effects, with random engines, readers and clients.
 */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { UsageEntry } from '../../../src/contract/accounts/usage.ts';
import type { Id } from '../../../src/contract/core/id.ts';
import { noopTracer } from '../../../src/kit/logging/spans.ts';
import { TurnAudio } from '../../../src/listen/turn-audio.ts';
import { Turns } from '../../../src/listen/turns.ts';
import { fakeLexicons } from '../../../test/doubles/fake-lexicons.ts';
import { FakeSttEngine } from '../../../test/doubles/fake-stt-engine.ts';
import { FakeTtsEngine } from '../../../test/doubles/fake-tts-engine.ts';
import { repetitions } from '../../../test/harness/tier.ts';
import { silentLog } from '../../../tools/harness/doubles/doubles.ts';
import { ManualClock } from '../../../tools/harness/doubles/manual-clock.ts';
import { RecordedCalls } from '../../../tools/harness/doubles/recorded-calls.ts';
import { toWireError } from '../protocol/errors.ts';
import type { ServerEvent } from '../protocol/server-events.ts';
import { ResponseAudio } from '../response-audio.ts';
import * as response from './response-machine.ts';
import * as transcription from './transcription-machine.ts';

const CALLER = { organization: 'a', keyId: 'key', requestId: 'req_1' } as const;

/** Pending work that the test releases, oldest first. */
class Gates {
  readonly #waiting: (() => void)[] = [];
  isOpen = false;

  wait = (): Promise<void> => {
    if (this.isOpen) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  };

  /** Returns false if nothing is pending. */
  releaseOne(): boolean {
    const pass = this.#waiting.shift();
    pass?.();
    return pass !== undefined;
  }

  openAll(): void {
    this.isOpen = true;
    while (this.releaseOne());
  }
}

/**
 * Runs promise callbacks: for a number of steps, so that the next action may fall between any two of them, or
 * until none is left.
 */
async function runPromises(steps: number): Promise<void> {
  for (let step = 0; step < steps; step += 1) await null;
  if (steps >= 20) await new Promise((resolve) => setImmediate(resolve));
}

const PAUSE = fc.constantFrom(0, 1, 2, 3, 5, 8, 13, 20);

describe('speech synthesis', () => {
  const TEXTS = ['One. Two! Three?', 'Short.', 'Fine. Fail here. Never said.', ' \n', 'Fail now.'];
  const action = fc.record({
    what: fc.constantFrom('create', 'cancel', 'engine', 'engine', 'engine', 'block', 'unblock'),
    text: fc.constantFrom(...TEXTS),
    pause: PAUSE,
  });

  function connection() {
    const engineGates = new Gates();
    const flowGates = new Gates();
    flowGates.isOpen = true;
    const sent: ServerEvent[] = [];
    const rows: UsageEntry[] = [];
    let state: response.State = response.initial;
    const happened = (event: response.Event) => {
      const step = response.next(state, event);
      state = step.state;
      for (const effect of step.effects) {
        if (effect.kind === 'send') sent.push(effect.event);
        else if (effect.kind === 'stop') speaking.stop(effect.responseId);
        else speaking.start({ ...SPEECH, ...effect });
      }
    };
    const engine = new FakeTtsEngine({
      runs: () => [new Array(2400).fill(0.25), new Array(7200).fill(0.25)],
      before: engineGates.wait,
      failure: ({ text }) => (text.startsWith('Fail') ? new Error('engine') : undefined),
    });
    const speaking = new ResponseAudio({
      tts: { ids: ['m'], get: () => engine },
      voices: { find: async () => undefined, findSimilar: async () => undefined },
      lexicons: fakeLexicons(),
      calls: new RecordedCalls({ stored: (row) => void rows.push(row) }),
      log: silentLog,
      tracer: noopTracer,
      clock: new ManualClock(),
      caller: CALLER,
      flow: {
        async ready(signal) {
          const leave = new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
          await Promise.race([flowGates.wait(), leave]);
          signal.throwIfAborted();
        },
      },
      report: happened,
    });
    return { happened, speaking, engineGates, flowGates, sent, rows, stateKind: () => state.kind };
  }
  const SPEECH = {
    model: 'm',
    voice: undefined,
    speed: 1,
    format: { encoding: 'mulaw', rateHz: 8000 },
  } as const;

  it('finishes every response once and writes one row if it has something to speak, for any timing', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(action, { maxLength: 40 }), fc.boolean(), async (actions, closes) => {
        const it = connection();
        let made = 0;
        const blank = new Set<string>();
        for (const { what, text, pause } of actions) {
          if (what === 'create') {
            made += 1;
            if (text.trim() === '') blank.add(`resp_${made}`);
            it.happened({
              kind: 'create_requested',
              eventId: null,
              responseId: `resp_${made}`,
              itemId: `item_${made}`,
              previousItemId: null,
              text,
              canSpeak: true,
              template: {
                conversationId: 'conv_1',
                format: { type: 'audio/pcmu', rate: 8000 },
                voice: undefined,
                metadata: null,
              },
            });
          }
          if (what === 'cancel') it.happened({ kind: 'cancel_requested', eventId: null });
          if (what === 'engine') it.engineGates.releaseOne();
          if (what === 'block') it.flowGates.isOpen = false;
          if (what === 'unblock') it.flowGates.openAll();
          await runPromises(pause);
        }
        if (closes) it.happened({ kind: 'closed' });
        const before = it.sent.length;
        it.flowGates.openAll();
        it.engineGates.openAll();
        await runPromises(20);
        if (closes) expect(it.sent).toHaveLength(before);
        await it.speaking.close();
        expect(it.stateKind()).toBe(closes ? 'closed' : 'idle');

        const ids = it.sent.flatMap((event) =>
          event.type === 'response.created' ? [event.response.id] : [],
        );
        const created = ids.length;
        const silent = ids.filter((id) => blank.has(id)).length;
        const statuses = it.sent.flatMap((event) =>
          event.type === 'response.done' ? [event.response.status] : [],
        );
        if (!closes) expect(statuses).toHaveLength(created);
        const counts = (all: readonly string[], what: string) => all.filter((each) => each === what).length;
        const stored = it.rows.map(({ status }) => status);
        // A blank text has no row, unless it is cancelled before it is read.
        expect(stored.length).toBeLessThanOrEqual(created);
        expect(stored.length).toBeGreaterThanOrEqual(created - silent);
        expect(counts(stored, 'cancelled')).toBeLessThanOrEqual(
          counts(statuses, 'cancelled') + (closes ? 1 : 0),
        );
        // A cancel may occur while the row of a finished response is being stored, but not the other way
        // round.
        expect(counts(stored, 'failed')).toBeGreaterThanOrEqual(counts(statuses, 'failed'));
        expect(counts(stored, 'completed')).toBeGreaterThanOrEqual(counts(statuses, 'completed') - silent);
        const bytes = it.sent.reduce(
          (sum, event) =>
            event.type === 'response.audio.delta' ? sum + Uint8Array.fromBase64(event.delta).length : sum,
          0,
        );
        expect(it.rows.reduce((sum, { audioBytes = 0 }) => sum + audioBytes, 0)).toBe(bytes);
        let active: string | undefined;
        for (const event of it.sent) {
          if (event.type === 'response.created') active = event.response.id;
          if ('response_id' in event) expect(event.response_id).toBe(active);
          if (event.type === 'response.done') active = undefined;
        }
      }),
      { numRuns: repetitions(134, 400) },
    );
  });
});

describe('transcription', () => {
  const action = fc.record({
    what: fc.constantFrom('open', 'decide', 'drop', 'commit', 'engine', 'engine', 'engine'),
    pause: PAUSE,
  });

  it('finishes every committed turn once and in order, and writes one row before its result', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(action, { maxLength: 40 }),
        fc.boolean(),
        fc.nat({ max: 4 }),
        async (actions, closes, failing) => {
          const gates = new Gates();
          const trace: (ServerEvent | 'row')[] = [];
          const rows: UsageEntry[] = [];
          const turns = new Map<Id<'item_'>, TurnAudio>();
          let runs = 0;
          const engine = new FakeSttEngine({
            deltas: ['Ask', ' not', ' what.'],
            before: gates.wait,
            failure: () => {
              runs += 1;
              return runs % 5 === failing ? new Error('engine') : undefined;
            },
          });
          const ASK = { model: 'm', task: 'transcribe', language: undefined, prompt: undefined } as const;
          let state: transcription.State = transcription.initial;
          const happened = (event: transcription.Event) => {
            const step = transcription.next(state, event);
            state = step.state;
            for (const effect of step.effects) {
              if (effect.kind === 'send') trace.push(effect.event);
              else if (effect.kind === 'stop') transcriptions.get(effect.itemId)?.stop();
              else if (effect.kind === 'abandon') transcriptions.get(effect.itemId)?.abandon();
              else {
                const { itemId, kind } = effect;
                const turn = transcriptions.add({ itemId, audio: turns.get(itemId) ?? new TurnAudio() }, ASK);
                if (kind === 'confirm') void turn.confirm();
                else turn.start();
              }
            }
          };
          const transcriptions = new Turns({
            stt: { ids: ['m'], get: () => engine },
            calls: new RecordedCalls({
              stored(row) {
                trace.push('row');
                rows.push(row);
              },
            }),
            log: silentLog,
            tracer: noopTracer,
            caller: CALLER,
            report: (fact) =>
              happened(fact.kind === 'failed' ? { ...fact, error: toWireError(fact.error) } : fact),
          });

          let made = 0;
          let open: Id<'item_'> | undefined;
          const committed: string[] = [];
          const commit = (itemId: Id<'item_'>) => {
            turns.get(itemId)?.end();
            committed.push(itemId);
            happened({ kind: 'turn_committed', itemId });
          };
          const fresh = (audio: TurnAudio): Id<'item_'> => {
            made += 1;
            const itemId: Id<'item_'> = `item_${made}`;
            turns.set(itemId, audio);
            return itemId;
          };
          for (const { what, pause } of actions) {
            // Like the segmenter: one turn is active at a time, and a commit ends it.
            if (what === 'open' && open === undefined) {
              open = fresh(new TurnAudio());
              happened({ kind: 'turn_opened', itemId: open });
            }
            if ((what === 'decide' || what === 'drop' || what === 'commit') && open !== undefined) {
              const itemId = open;
              open = undefined;
              if (what === 'drop') {
                turns.get(itemId)?.drop();
                happened({ kind: 'turn_dropped', itemId });
              } else commit(itemId);
            } else if (what === 'commit') {
              commit(fresh(TurnAudio.of(new Uint8Array(3200), { encoding: 'pcm16', rateHz: 16_000 })));
            }
            if (what === 'engine') gates.releaseOne();
            await runPromises(pause);
          }
          if (closes) happened({ kind: 'closed' });
          else if (open !== undefined) commit(open);
          gates.openAll();
          // The turns finish one after another.
          for (let turn = 0; turn <= made; turn += 1) await runPromises(20);
          await transcriptions.close();

          expect(rows).toHaveLength(committed.length);
          const ends = trace.flatMap((each) =>
            each !== 'row' && 'item_id' in each && !each.type.endsWith('delta') ? [each.item_id] : [],
          );
          expect(ends).toEqual(committed.slice(0, ends.length));
          if (closes) {
            expect(rows.filter(({ status }) => status !== 'cancelled').length).toBeGreaterThanOrEqual(
              ends.length,
            );
          } else {
            expect(ends).toEqual(committed);
            expect(rows.every(({ status }) => status !== 'cancelled')).toBe(true);
          }
          let stored = 0;
          let ended = 0;
          const texts = new Map<string, string>();
          for (const each of trace) {
            if (each === 'row') stored += 1;
            else if (each.type === 'conversation.item.input_audio_transcription.delta') {
              expect(ends.indexOf(each.item_id) < 0 || ends.indexOf(each.item_id) >= ended).toBe(true);
              texts.set(each.item_id, `${texts.get(each.item_id) ?? ''}${each.delta}`);
            } else {
              ended += 1;
              expect(stored).toBeGreaterThanOrEqual(ended);
              if (each.type !== 'conversation.item.input_audio_transcription.completed') continue;
              expect(texts.get(each.item_id)).toBe(each.transcript);
            }
          }
        },
      ),
      { numRuns: repetitions(134, 400) },
    );
  });
});
