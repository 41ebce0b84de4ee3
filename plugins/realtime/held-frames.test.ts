import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SpokenVoice } from '../../src/contract/engines/spoken-voice.ts';
import { settled } from '../../test/doubles/fake-vad-engine.ts';
import { spokenVoice } from '../../test/media/spoken-voice.ts';
import { RecordingLogger } from '../../tools/harness/doubles/recording-logger.ts';
import { HeldFrames } from './held-frames.ts';
import { MAX_QUEUED_CHARACTERS, MAX_QUEUED_FRAMES } from './limits.ts';
import { type ClientEvent, type ParsedFrame, parseClientFrame } from './protocol/client-events.ts';
import { namedVoice, type VoiceLookupResult } from './session/session.ts';

const CALLER = { organization: 'a', keyId: 'key', requestId: 'req_1' } as const;

const naming = (voice: unknown, event_id?: string) =>
  JSON.stringify({ type: 'session.update', event_id, session: { audio: { output: { voice } } } });
const named = (event_id: string, type = 'input_audio_buffer.commit') => JSON.stringify({ type, event_id });

/** Frames of a connection, which reports in `handled` what it handles. The test completes the lookups, oldest first. */
function opened() {
  const lookUps: { voiceId: string; answer: (found: VoiceLookupResult) => Promise<void> }[] = [];
  const handled: (readonly [id: string | null, voice: VoiceLookupResult | undefined])[] = [];
  const errors: string[] = [];
  const log = new RecordingLogger();
  const handle = (frame: ParsedFrame) => {
    const voiceId =
      'event' in frame && frame.event.type === 'session.update' ? namedVoice(frame.event.session) : undefined;
    if ('error' in frame) errors.push(frame.error.code);
    if (voiceId === undefined) handled.push([idOf(frame), undefined]);
    else held.lookUp(voiceId, (voice) => handled.push([idOf(frame), voice]));
  };
  const held = new HeldFrames<ClientEvent>({
    caller: CALLER,
    log,
    handle,
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
  });
  const receive = (raw: string | Uint8Array) => {
    const frame = parseClientFrame(raw);
    const ready = held.isHolding ? held.add(frame, raw.length) : frame;
    if (ready !== undefined) handle(ready);
  };
  return { held, receive, lookUps, handled, errors, log };
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
  ])('%s is handled immediately', (_, frame) => {
    const { receive, lookUps, handled } = opened();
    receive(frame);
    expect(handled).toEqual([['a', undefined]]);
    expect(lookUps).toEqual([]);
  });

  it.each([
    ['by its id', 'tts-vc-voice_1'],
    ['as an object', { id: 'tts-vc-voice_1' }],
  ])('that names a voice %s waits for the lookup, and so do later frames', async (_, voice) => {
    const { receive, lookUps, handled } = opened();
    for (const frame of [
      naming(voice, 'a'),
      named('b'),
      'not json',
      naming('tts-vc-voice_2', 'c'),
      named('d'),
    ]) {
      receive(frame);
    }
    await settled();
    expect(handled).toEqual([]);
    await lookUps[0]?.answer('found');
    const first = [
      ['a', 'found'],
      ['b', undefined],
      [null, undefined],
    ];
    expect(handled).toEqual(first);
    expect(lookUps.map(({ voiceId }) => voiceId)).toEqual(['tts-vc-voice_1', 'tts-vc-voice_2']);
    await lookUps[1]?.answer('missing');
    receive(named('e'));
    expect(handled).toEqual([...first, ['c', 'missing'], ['d', undefined], ['e', undefined]]);
  });

  it('is handled after a failed lookup, which is logged', async () => {
    const { receive, lookUps, handled, log } = opened();
    receive(naming('tts-vc-voice_1', 'a'));
    await lookUps[0]?.answer('failed');
    expect(handled).toEqual([['a', 'failed']]);
    expect(log.lines).toMatchObject([{ message: 'voice lookup failed' }]);
  });

  it('is handled in order, for any duration of the lookups', async () => {
    const move = fc.constantFrom('plain', 'plain', 'voice', 'answer');
    await fc.assert(
      fc.asyncProperty(fc.array(move, { maxLength: 40 }), async (moves) => {
        const { receive, lookUps, handled } = opened();
        const sent: string[] = [];
        let answered = 0;
        for (const move of moves) {
          if (move === 'answer') await lookUps[answered++]?.answer('found');
          else {
            sent.push(`${sent.length}`);
            receive(move === 'voice' ? naming('tts-vc-voice_1', sent.at(-1)) : named(sent.at(-1) ?? ''));
          }
          answered = Math.min(answered, lookUps.length);
        }
        while (answered < lookUps.length) await lookUps[answered++]?.answer('found');
        expect(handled.map(([id]) => id)).toEqual(sent);
      }),
      { numRuns: 200 },
    );
  });
});

describe('the held frames', () => {
  it('have a maximum number; further frames are rejected and the held ones are kept', async () => {
    const { receive, lookUps, handled, errors } = opened();
    receive(naming('tts-vc-voice_1', 'first'));
    for (let n = 0; n < MAX_QUEUED_FRAMES; n++) receive(named(`${n}`));
    expect(handled).toEqual([]);
    receive(named('more'));
    receive(new Uint8Array(3));
    expect(errors).toEqual(['buffer_overflow', 'buffer_overflow']);
    expect(handled).toEqual([
      ['more', undefined],
      [null, undefined],
    ]);
    await lookUps[0]?.answer('found');
    expect(handled).toHaveLength(2 + 1 + MAX_QUEUED_FRAMES);
    receive(named('later'));
    expect(handled.at(-1)).toEqual(['later', undefined]);
  });

  it('have a maximum number of characters', async () => {
    const { receive, lookUps, handled, errors } = opened();
    const audio = 'A'.repeat(MAX_QUEUED_CHARACTERS / 2);
    const append = (event_id: string) =>
      JSON.stringify({ type: 'input_audio_buffer.append', event_id, audio });
    receive(naming('tts-vc-voice_1', 'first'));
    for (const id of ['a', 'b']) receive(append(id));
    expect(handled).toEqual([['b', undefined]]);
    expect(errors).toEqual(['buffer_overflow']);
    await lookUps[0]?.answer('found');
    // Handled frames free capacity.
    receive(naming('tts-vc-voice_1', 'second'));
    receive(append('c'));
    await lookUps[1]?.answer('found');
    expect(handled.map(([id]) => id)).toEqual(['b', 'first', 'a', 'second', 'c']);
  });

  it('are discarded at close, after the pending lookup', async () => {
    const { held, receive, lookUps, handled } = opened();
    for (const frame of [naming('tts-vc-voice_1', 'a'), named('b')]) receive(frame);
    let isOver = false;
    const closing = held.close().then(() => {
      isOver = true;
    });
    await settled();
    expect(isOver).toBe(false);
    await lookUps[0]?.answer('found');
    await closing;
    expect(handled).toEqual([]);
  });
});
