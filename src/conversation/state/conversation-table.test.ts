import { expect, test } from 'vitest';
import {
  afterEvents,
  audio,
  call,
  cancel,
  clause,
  committed,
  createItem,
  createResponse,
  dropped,
  ended,
  failed,
  idle,
  messageStarted,
  notTranscribed,
  SERVER_VAD,
  speechStarted,
  spokenTurn,
  transcribed,
  userItem,
  words,
} from '../../../test/harness/conversation-machine.ts';
import { documentedTable, machineTable } from '../../../test/harness/state-table.ts';
import type { Event, State } from './conversation-machine.ts';

/** Settings of the states in which a response continues while the user speaks. */
const CONTINUED = { turnDetection: { ...SERVER_VAD, idleTimeoutMs: 6000, interruptResponse: false } };
const INTERRUPTED = { turnDetection: { ...SERVER_VAD, idleTimeoutMs: 6000 } };
const RESPONDING = [createResponse(), messageStarted(0), clause(0, ...words(0, 'One ')), audio(0, 100)];

const STATES: Readonly<Record<string, readonly [readonly Event[], settings?: object]>> = {
  idle: [[]],
  speaking: [[speechStarted('u')]],
  transcribing: [[speechStarted('u'), committed('u')]],
  'speaking, transcribing': [[speechStarted('t'), committed('t'), speechStarted('u')]],
  'transcribing, waiting': [[speechStarted('u'), committed('u'), createResponse()]],
  responding: [RESPONDING],
  'speaking, responding': [[...RESPONDING, speechStarted('u')], CONTINUED],
  'transcribing, responding': [[...RESPONDING, speechStarted('u'), committed('u')], CONTINUED],
  'responding, owing': [[...RESPONDING, ...spokenTurn('t')], CONTINUED],
  'responding out of band': [[createResponse({ isOutOfBand: true })]],
  draining: [[...RESPONDING, { kind: 'drain_requested' }]],
  closing: [[...RESPONDING, { kind: 'expired' }]],
  closed: [[{ kind: 'transport_closed' }]],
};

const EVENTS: Readonly<Record<string, Event>> = {
  'item created': createItem(userItem('mine')),
  commit: { kind: 'command', command: { kind: 'commit' }, eventId: null },
  'response created': createResponse(),
  'out-of-band response created': createResponse({ isOutOfBand: true }),
  cancelled: cancel(),
  'speech started': speechStarted('v'),
  'turn committed': committed('u'),
  'turn dropped': dropped('u'),
  'transcribed, words': transcribed('u'),
  'transcribed, no words': transcribed('u', ''),
  'not transcribed': notTranscribed('u'),
  audio: audio(0, 100),
  call: call(0),
  'reply ended': ended(0),
  'reply failed': failed(0),
  'idle time elapsed': idle('i'),
  'drain requested': { kind: 'drain_requested' },
  'session expired': { kind: 'expired' },
  'error occurred': { kind: 'error_occurred' },
  'transport closed': { kind: 'transport_closed' },
};

/** Groups of effects that always occur together, by their names in the table. */
const GROUPS: readonly (readonly [name: string, effects: string])[] = [
  [
    'call',
    'response.output_item.added, conversation.item.added, response.function_call_arguments.delta, response.function_call_arguments.done, conversation.item.done, response.output_item.done',
  ],
  [
    'message end',
    'response.output_audio.done, response.output_audio_transcript.done, response.content_part.done, conversation.item.done, response.output_item.done',
  ],
  ['item', 'conversation.item.added, conversation.item.done'],
];

function effectNames(names: readonly string[]): string {
  // The page describes the idle timer.
  const effects = names.filter((name) => !name.endsWith('_idle_timer')).join(', ');
  return GROUPS.reduce((text, [name, group]) => text.replaceAll(group, name), effects)
    .replaceAll('input_audio_buffer.', '')
    .replaceAll('conversation.item.input_audio_transcription.', 'transcription.')
    .replaceAll(/response\.done (\w+)/g, 'done ($1)')
    .replaceAll('response.', '');
}

function stateName({ life, speaking, turns, responses, owesResponse }: State): string {
  if (life !== 'open') return life;
  const main = responses.find(({ isOutOfBand }) => !isOutOfBand);
  const parts = [
    speaking === undefined ? '' : 'speaking',
    turns.length === 0 ? '' : 'transcribing',
    main === undefined ? '' : main.phase === 'waiting' ? 'waiting' : 'responding',
    owesResponse ? 'owing' : '',
    responses.some(({ isOutOfBand }) => isOutOfBand) ? 'responding out of band' : '',
  ];
  return parts.filter((part) => part !== '').join(', ') || 'idle';
}

const scriptOf = ([events, settings = INTERRUPTED]: readonly [readonly Event[], settings?: object]) =>
  afterEvents(events, settings);

test('the table of docs/states/conversation.md matches the machine in every cell', () => {
  const table = machineTable(STATES, EVENTS, (state, event) => {
    const script = scriptOf(state);
    const before = stateName(script.state);
    const { names } = script.play(event);
    const after = stateName(script.state);
    return [effectNames(names), after === before ? '' : `→ ${after}`].filter(Boolean).join(' ') || '–';
  });
  expect(documentedTable('conversation')).toEqual(table);
});

test('the table has a row for each state', () => {
  for (const [name, state] of Object.entries(STATES)) expect(stateName(scriptOf(state).state)).toBe(name);
});
