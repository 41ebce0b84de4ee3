import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SpokenVoice } from '../../src/contract/engines/spoken-voice.ts';
import { settled } from '../../test/doubles/fake-vad-engine.ts';
import { spokenVoice } from '../../test/media/spoken-voice.ts';
import { RecordingLogger } from '../../tools/harness/doubles/recording-logger.ts';
import { FrameQueue } from './frame-queue.ts';
import { MAX_QUEUED_CHARACTERS, MAX_QUEUED_FRAMES } from './limits.ts';
import { type ParsedFrame, parseClientFrame } from './protocol/client-events.ts';
import type { VoiceLookupResult } from './session/session.ts';

const CALLER = { organization: 'a', keyId: 'key', requestId: 'req_1' } as const;

const naming = (voice: unknown, event_id?: string) =>
  JSON.stringify({ type: 'session.update', event_id, session: { audio: { output: { voice } } } });
const named = (event_id: string, type = 'input_audio_buffer.commit') => JSON.stringify({ type, event_id });

/** A queue whose lookups are completed by the test, oldest first. */
function opened() {
  const lookUps: { voiceId: string; answer: (found: VoiceLookupResult) => Promise<void> }[] = [];
  const delivered: (readonly [id: string | null, voice: VoiceLookupResult | undefined])[] = [];
  const errors: string[] = [];
  const log = new RecordingLogger();
  const frames = new FrameQueue({
    caller: CALLER,
    log,
    parse: parseClientFrame,
    voices: {
      find(voiceId, organization) {
        expect(organization).toBe(CALLER.organization);
        const { promise, resolve, reject } = Promise.withResolvers<SpokenVoice | undefined>();
        const answer = (result: VoiceLookupResult) => {
          if (result === 'failed') reject(new Error('no database'));
          else resolve(result === 'found' ? spokenVoice() : undefined);
          return settled();
        };
        lookUps.push({ voiceId, answer });
        return promise;
      },
    },
    deliver(frame, voice) {
      delivered.push([idOf(frame), voice]);
      if ('error' in frame) errors.push(frame.error.code);
    },
  });
  return { frames, lookUps, delivered, errors, log };
}

function idOf(frame: ParsedFrame): string | null {
  return 'event' in frame ? (frame.event.event_id ?? null) : frame.eventId;
}

describe('a frame', () => {
  it.each([
    ['that is another event', named('a')],
    ['that names no voice', JSON.stringify({ type: 'session.update', event_id: 'a', session: { speed: 2 } })],
    ['that selects the default voice', naming(null, 'a')],
    ['with an invalid voice', naming({ id: 7 }, 'a')],
    ['whose voice is not a stored voice id', naming('alloy', 'a')],
    ['that is rejected', named('a', 'dance')],
  ])('%s is processed immediately', (_, frame) => {
    const { frames, lookUps, delivered } = opened();
    frames.enqueue(frame);
    expect(delivered).toEqual([['a', undefined]]);
    expect(lookUps).toEqual([]);
  });

  it.each([
    ['by its id', 'tts-vc-voice_1'],
    ['as an object', { id: 'tts-vc-voice_1' }],
  ])('that names a voice %s waits for the lookup, and so do later frames', async (_, voice) => {
    const { frames, lookUps, delivered } = opened();
    for (const frame of [
      naming(voice, 'a'),
      named('b'),
      'not json',
      naming('tts-vc-voice_2', 'c'),
      named('d'),
    ]) {
      frames.enqueue(frame);
    }
    await settled();
    expect(delivered).toEqual([]);
    await lookUps[0]?.answer('found');
    const first = [
      ['a', 'found'],
      ['b', undefined],
      [null, undefined],
    ];
    expect(delivered).toEqual(first);
    expect(lookUps.map(({ voiceId }) => voiceId)).toEqual(['tts-vc-voice_1', 'tts-vc-voice_2']);
    await lookUps[1]?.answer('missing');
    frames.enqueue(named('e'));
    expect(delivered).toEqual([...first, ['c', 'missing'], ['d', undefined], ['e', undefined]]);
  });

  it('is processed after a failed lookup, which is logged', async () => {
    const { frames, lookUps, delivered, log } = opened();
    frames.enqueue(naming('tts-vc-voice_1', 'a'));
    await lookUps[0]?.answer('failed');
    expect(delivered).toEqual([['a', 'failed']]);
    expect(log.lines).toMatchObject([{ message: 'voice lookup failed' }]);
  });

  it('is processed in order, for any duration of the lookups', async () => {
    const move = fc.constantFrom('plain', 'plain', 'voice', 'answer');
    await fc.assert(
      fc.asyncProperty(fc.array(move, { maxLength: 40 }), async (moves) => {
        const { frames, lookUps, delivered } = opened();
        const sent: string[] = [];
        let answered = 0;
        for (const move of moves) {
          if (move === 'answer') await lookUps[answered++]?.answer('found');
          else {
            sent.push(`${sent.length}`);
            frames.enqueue(
              move === 'voice' ? naming('tts-vc-voice_1', sent.at(-1)) : named(sent.at(-1) ?? ''),
            );
          }
          answered = Math.min(answered, lookUps.length);
        }
        while (answered < lookUps.length) await lookUps[answered++]?.answer('found');
        expect(delivered.map(([id]) => id)).toEqual(sent);
      }),
      { numRuns: 200 },
    );
  });
});

describe('the queue', () => {
  it('has a maximum number of frames; further frames are rejected and the queue is kept', async () => {
    const { frames, lookUps, delivered, errors } = opened();
    frames.enqueue(naming('tts-vc-voice_1', 'first'));
    for (let n = 0; n < MAX_QUEUED_FRAMES; n++) frames.enqueue(named(`${n}`));
    expect(delivered).toEqual([]);
    frames.enqueue(named('more'));
    frames.enqueue(new Uint8Array(3));
    expect(errors).toEqual(['buffer_overflow', 'buffer_overflow']);
    expect(delivered).toEqual([
      ['more', undefined],
      [null, undefined],
    ]);
    await lookUps[0]?.answer('found');
    expect(delivered).toHaveLength(2 + 1 + MAX_QUEUED_FRAMES);
    frames.enqueue(named('later'));
    expect(delivered.at(-1)).toEqual(['later', undefined]);
  });

  it('has a maximum number of characters', async () => {
    const { frames, lookUps, delivered, errors } = opened();
    const audio = 'A'.repeat(MAX_QUEUED_CHARACTERS / 2);
    const append = (event_id: string) =>
      JSON.stringify({ type: 'input_audio_buffer.append', event_id, audio });
    frames.enqueue(naming('tts-vc-voice_1', 'first'));
    for (const id of ['a', 'b']) frames.enqueue(append(id));
    expect(delivered).toEqual([['b', undefined]]);
    expect(errors).toEqual(['buffer_overflow']);
    await lookUps[0]?.answer('found');
    // Processed frames free capacity.
    frames.enqueue(naming('tts-vc-voice_1', 'second'));
    frames.enqueue(append('c'));
    await lookUps[1]?.answer('found');
    expect(delivered.map(([id]) => id)).toEqual(['b', 'first', 'a', 'second', 'c']);
  });

  it('is discarded at close, after the pending lookup', async () => {
    const { frames, lookUps, delivered } = opened();
    for (const frame of [naming('tts-vc-voice_1', 'a'), named('b')]) frames.enqueue(frame);
    let isOver = false;
    const closing = frames.close().then(() => {
      isOver = true;
    });
    await settled();
    expect(isOver).toBe(false);
    await lookUps[0]?.answer('found');
    await closing;
    frames.enqueue(named('c'));
    expect(delivered).toEqual([]);
  });
});
