import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ServiceError } from '../../src/contract/core/error.ts';
import { DEFAULT_VAD_SETTINGS } from '../../src/contract/engines/engine.ts';
import { seededRandom } from '../../src/kit/math/seeded-random.ts';
import type { RealtimeClient, ServerEventFrame } from '../../tools/harness/clients/realtime-client.ts';
import { FakeSttEngine } from '../doubles/fake-stt-engine.ts';
import { called, FakeTextEngine, said } from '../doubles/fake-text-engine.ts';
import { FakeTtsEngine } from '../doubles/fake-tts-engine.ts';
import { FakeVadEngine, randomScript, settled } from '../doubles/fake-vad-engine.ts';
import { ConversationFuzz } from '../generators/conversation-fuzz.ts';
import { realtimeApp } from '../harness/realtime-app.ts';
import { repetitions } from '../harness/tier.ts';

/**
 * Sends thousands of valid and invalid frames over real WebSockets to conversations, whose engines fail at random. Each client checks
 * all server events with the rules and schemas: every rejected event has exactly one error, with its `event_id`.
 */

const CONNECTIONS = 10;
const FRAMES_EACH = repetitions(500, 10_000);
const MAX_UNHANDLED_FRAMES = 50;
const random = seededRandom(20_261_126);
const FAILURES = ['The engine is gone.', 'private words'] as const;
/** The scripted model calls a function that the session may not have. */
const NO_FUNCTION = 'The language model returned an invalid function call.';
/** Whether the engines no longer fail. */
let isCalm = false;

function failure(): unknown {
  if (isCalm || random() > 0.05) return undefined;
  return random() < 0.5 ? new ServiceError('upstream', FAILURES[0]) : new Error(FAILURES[1]);
}

function answer() {
  const kind = isCalm ? 0 : random();
  if (kind < 0.6) return said('Hello there. ', 'How can I help?');
  return kind < 0.8
    ? called(0, 'weather', '{"city":', '"Rome"}')
    : [...said('Wait. '), ...called(0, 'weather', '{}')];
}

const engines = () => ({
  stt: new FakeSttEngine({
    deltasOf: () => (random() < 0.3 ? [] : ['Ask', ' not.']),
    before: settled,
    failure,
  }),
  tts: new FakeTtsEngine({ before: settled, failure }),
  text: new FakeTextEngine({ answer, before: settled, failure }),
  vad: new FakeVadEngine({
    script: () => randomScript(random, DEFAULT_VAD_SETTINGS, 24_000, 60_000),
    before: () => {
      const error = failure();
      if (error !== undefined) throw error;
    },
  }),
});

/** Without and with the guard of interruptions, which delays the events of turns. */
let apps: readonly ReturnType<typeof realtimeApp>[] = [];
beforeAll(() => {
  apps = [false, true].map((guardsInterruptions) =>
    realtimeApp({ ...engines(), conversation: { guardsInterruptions } }),
  );
});
afterAll(() => Promise.all(apps.map((app) => app.stop())));

/** Ids that the server has sent recently. */
function recentIds({ events }: RealtimeClient): string[] {
  return events
    .slice(-100)
    .flatMap(({ item, item_id, response }) =>
      [Object(item).id, item_id, Object(response).id].filter((id) => typeof id === 'string'),
    );
}

/** The client can still hold a normal turn. */
async function expectTurn(client: RealtimeClient): Promise<void> {
  isCalm = true;
  const audio = { input: { turn_detection: null } };
  const session = { type: 'realtime', output_modalities: ['text'], tools: [], tool_choice: 'auto', audio };
  client.send({ type: 'session.update', session });
  await client.quiet();
  const content = [{ type: 'input_text', text: 'Hi!' }];
  client.send({ type: 'conversation.item.create', item: { type: 'message', role: 'user', content } });
  const response = { metadata: { is: 'last' }, max_output_tokens: 'inf' };
  const isLast = (event: ServerEventFrame) => Object(Object(event.response).metadata).is === 'last';
  let started: ServerEventFrame;
  do {
    // An earlier turn may still be answered.
    client.send({ type: 'response.create', event_id: 'last', response });
    started = await client.next(
      (event) => isLast(event) || (event.type === 'error' && Object(event.error).event_id === 'last'),
    );
    if (started.type === 'error') await client.next('response.done');
  } while (Object(started.error).code === 'conversation_already_has_active_response');
  const done = await client.next((event) => event.type === 'response.done' && isLast(event));
  expect(done.response).toMatchObject({ status: 'completed' });
  isCalm = false;
}

describe(`${CONNECTIONS * FRAMES_EACH} frames over ${CONNECTIONS} connections`, () => {
  test.each(Array.from({ length: CONNECTIONS }, (_, seed) => seed))(
    'connection %i follows the rules, and a normal turn works afterwards',
    async (seed) => {
      const fuzz = new ConversationFuzz(seededRandom(seed));
      const headers = seed % 3 === 2 ? { 'openai-beta': 'realtime=v1' } : {};
      const isGuarded = seed % 2 === 1;
      const app = apps[isGuarded ? 1 : 0] ?? expect.fail('no app');
      const client = await app.connect('?model=svc-voice', { headers, traced: false });
      for (let frame = 1; frame <= FRAMES_EACH; frame++) {
        const sent = fuzz.next();
        // The guard may discard a turn that the client has committed.
        if (!isGuarded || !String(sent).includes('input_audio_buffer.commit')) client.send(sent);
        if (frame % MAX_UNHANDLED_FRAMES !== 0) continue;
        await client.handled();
        fuzz.know(recentIds(client));
      }
      await expectTurn(client);
      await client.close('quiet');
    },
  );

  test('the log has only the simulated errors of the engines', () => {
    const errors = apps
      .flatMap(({ log }) => log.lines)
      .filter(({ level }) => level === 'error')
      .map(({ error }) => error);
    const isSimulated = (error: unknown) =>
      [...FAILURES, NO_FUNCTION].some((simulated) => error instanceof Error && error.message === simulated);
    expect(errors.filter((error) => !isSimulated(error))).toEqual([]);
  });
});
