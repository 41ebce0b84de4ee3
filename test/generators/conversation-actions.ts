import {
  clientSent,
  detectorFails,
  happened,
  idleElapses,
  type ReplyResult,
  replies,
  reportsLate,
  type Simulation,
  speechStarts,
  speechStops,
  transcribes,
} from './conversation-simulation.ts';

/** What can happen to a conversation. Each action returns undefined where it is not possible. */
export type Action = (before: Simulation) => Simulation | undefined;

const text = (words: string) => ({
  type: 'message',
  role: 'user',
  content: [{ type: 'input_text', text: words }],
});
const detection = (fields: object | null) => ({ audio: { input: { turn_detection: fields } } });
const update = (session: object) => ({ type: 'session.update', event_id: 'update', session });

/** Frames of the client. */
export const CLIENT_FRAMES: Readonly<Record<string, object>> = {
  append: { type: 'input_audio_buffer.append', audio: 'AAAA' },
  commit: { type: 'input_audio_buffer.commit', event_id: 'commit' },
  clear: { type: 'input_audio_buffer.clear' },
  'create item': { type: 'conversation.item.create', item: text('Say it.') },
  'create item at the front': {
    type: 'conversation.item.create',
    event_id: 'front',
    previous_item_id: 'root',
    item: { ...text('First.'), id: 'mine' },
  },
  respond: { type: 'response.create', event_id: 'respond' },
  'respond to an input': { type: 'response.create', response: { input: [text('Other.')] } },
  'respond out of band': {
    type: 'response.create',
    event_id: 'aside',
    response: { conversation: 'none', metadata: { a: 'b' } },
  },
  cancel: { type: 'response.cancel', event_id: 'cancel' },
  'choose text': update({ output_modalities: ['text'] }),
  'choose audio': update({ output_modalities: ['audio'] }),
  'detect no turns': update(detection(null)),
  'let responses continue': update(
    detection({ type: 'server_vad', interrupt_response: false, idle_timeout_ms: 5000 }),
  ),
  'do not answer': update(detection({ type: 'semantic_vad', create_response: false })),
};

/** Frames that name an item. */
export const ITEM_FRAMES: Readonly<Record<string, (itemId: string) => object>> = {
  'retrieve the last item': (item_id) => ({ type: 'conversation.item.retrieve', event_id: 'get', item_id }),
  'delete the last item': (item_id) => ({ type: 'conversation.item.delete', event_id: 'delete', item_id }),
  'create the last item again': (id) => ({
    type: 'conversation.item.create',
    event_id: 'again',
    item: { ...text('Again.'), id },
  }),
  'truncate the last item': (item_id) => ({
    type: 'conversation.item.truncate',
    event_id: 'truncate',
    item_id,
    content_index: 0,
    audio_end_ms: 60,
  }),
};

/** Id of the last item of a response in progress, which may be deleted, else of the conversation. */
export function lastItemId({ state }: Simulation): string {
  const outputs = state.responses.flatMap((each) => each.outputs);
  const output = outputs.at(-1);
  const running = output?.kind === 'message' ? output.itemId : output?.item.id;
  return running ?? state.items.at(-1)?.id ?? 'item_none';
}

const REPLIES: readonly ReplyResult[] = [
  ...(['speaks', 'sounds', 'calls', 'ends', 'is too long', 'fails'] as const),
];

/** What the engines report. */
export const REPORTS: Readonly<Record<string, Action>> = {
  'speech starts': speechStarts,
  'speech interrupts audio': (before) => (before.hasSpoken ? speechStarts(before, 150) : undefined),
  'speech stops': speechStops,
  'detector fails': detectorFails,
  words: (before) => transcribes(before, 'words'),
  transcript: (before) => transcribes(before, 'completed'),
  'no transcript': (before) => transcribes(before, 'failed'),
  ...Object.fromEntries(
    REPLIES.map((result) => [`reply ${result}`, (before: Simulation) => replies(before, result)]),
  ),
  'reply out of band speaks': (before) => replies(before, 'speaks', true),
  'reply out of band calls': (before) => replies(before, 'calls', true),
  'reply out of band ends': (before) => replies(before, 'ends', true),
  'late reports': reportsLate,
  'idle time elapses': idleElapses,
};

/** What ends a session. */
export const ENDS: Readonly<Record<string, Action>> = {
  'no credits for a transcript': (before) => transcribes(before, 'out of credits'),
  'no credits for a reply': (before) => replies(before, 'runs out of credits'),
  drain: (before) => happened(before, { kind: 'drain_requested' }),
  expire: (before) => happened(before, { kind: 'expired' }),
  'fail unexpectedly': (before) => happened(before, { kind: 'error_occurred' }),
};

/** The client sends a frame, which is read immediately, or something else happens. */
export const ACTIONS: Readonly<Record<string, Action>> = {
  ...Object.fromEntries(
    Object.entries(CLIENT_FRAMES).map(([name, frame]) => [
      name,
      (before: Simulation) => clientSent(before, frame),
    ]),
  ),
  ...Object.fromEntries(
    Object.entries(ITEM_FRAMES).map(([name, frame]) => [
      name,
      (before: Simulation) => clientSent(before, frame(lastItemId(before))),
    ]),
  ),
  ...REPORTS,
  ...ENDS,
};
