/**
 * Reducer of a conversation: events of the service and actions of the user in; the next state and effects out. Pure. It decides
 * what is played, interrupted and requested.
 */

import type { FinishedTurn } from '../../../audio/input/push-to-talk.ts';
import { base64Bytes } from '../../../audio/pcm.ts';
import type { Frame } from '../../../client/realtime-socket.ts';
import type { SessionState } from './session-state.ts';
import {
  type AssistantEntry,
  addEntry,
  changeEntry,
  type Entry,
  findEntry,
  type ToolEntry,
  type UserEntry,
} from './transcript.ts';
import { parseTiming, type Stage, type TurnTiming, withStage } from './turn-timing.ts';
import type { ServerEvent, ServerEventOf } from './wire.ts';

/** An action of the user, or a change of the page. */
export type PageEvent =
  /** The service loads a model before it accepts the session. */
  | { readonly type: 'page.loading'; readonly message: string }
  | { readonly type: 'page.closed'; readonly message: string | undefined }
  | { readonly type: 'page.pressed' }
  /** @property turn undefined if it has no audio. */
  | { readonly type: 'page.released'; readonly turn: FinishedTurn | undefined }
  | { readonly type: 'page.typed'; readonly text: string }
  | { readonly type: 'page.stopped' }
  /** All queued audio was played. */
  | { readonly type: 'page.played' }
  | { readonly type: 'page.tool_output'; readonly callId: string; readonly output: string };

export type Effect =
  /** Send the settings of the user. */
  | { readonly kind: 'configure' }
  /** The session is ready for audio. */
  | { readonly kind: 'start_input' }
  | { readonly kind: 'send'; readonly frame: Frame }
  | { readonly kind: 'play'; readonly itemId: string; readonly audio: string }
  | { readonly kind: 'stop_playback' }
  | {
      readonly kind: 'call_tool';
      readonly callId: string;
      readonly name: string;
      readonly arguments: string;
    };

/** Playback of a message. */
export interface PlayedItem {
  readonly itemId: string;
  readonly playedMs: number;
  readonly lengthMs: number;
}

/** Values that a transition may use. */
export interface Context {
  /** Page clock. */
  readonly nowMs: number;
  /** Time of the page clock that offset 0 of the sent audio corresponds to; undefined without audio. */
  readonly inputStartMs: number | undefined;
  readonly playback: readonly PlayedItem[];
  /** Whether the browser runs a function. */
  runsTool(name: string): boolean;
}

export interface Step {
  readonly state: SessionState;
  readonly effects: readonly Effect[];
}

/** Minimum length of a push-to-talk turn that the service accepts, in ms. */
const MIN_TURN_MS = 100;
/** Number of turns whose latency is kept. */
const MAX_TURNS = 20;
/** Bytes per ms of speech: 16-bit samples at 24 kHz. */
const BYTES_PER_MS = 48;

export function next(state: SessionState, event: ServerEvent | PageEvent, context: Context): Step {
  const transition = new Transition(state, context);
  if (state.phase !== 'ended') transition.apply(event);
  return { state: transition.state, effects: transition.effects };
}

class Transition {
  state: SessionState;
  readonly effects: Effect[] = [];
  readonly #context: Context;

  constructor(state: SessionState, context: Context) {
    this.state = state;
    this.#context = context;
  }

  apply(event: ServerEvent | PageEvent): void {
    switch (event.type) {
      case 'page.loading':
        this.#set({ phase: 'loading', message: event.message });
        break;
      case 'page.closed':
        this.#end(event.message);
        break;
      case 'page.pressed':
        this.#stop();
        this.#set({ isButtonDown: true, error: undefined });
        break;
      case 'page.released':
        this.#release(event.turn);
        break;
      case 'page.typed':
        this.#sendText(event.text);
        break;
      case 'page.stopped':
        this.#stop();
        break;
      case 'page.played':
        this.#endPlayback();
        break;
      case 'page.tool_output':
        this.#sendToolOutput(event.callId, event.output);
        break;
      case 'session.created': {
        const { instructions, audio } = event.session;
        const defaults = { instructions, turnDetection: audio.input.turn_detection };
        this.#set({ phase: 'connecting', message: undefined, defaults });
        this.effects.push({ kind: 'configure' });
        break;
      }
      case 'session.updated':
        if (this.state.phase === 'ready') break;
        this.#set({ phase: 'ready' });
        this.effects.push({ kind: 'start_input' });
        break;
      case 'input_audio_buffer.speech_started':
        this.#startSpeech(event.item_id);
        break;
      case 'input_audio_buffer.speech_stopped':
        this.#stopSpeech(event);
        break;
      case 'input_audio_buffer.committed':
        this.#commitTurn(event.item_id);
        break;
      case 'conversation.item.input_audio_transcription.delta':
        this.#changeUser(event.item_id, (entry) => ({ ...entry, text: entry.text + event.delta }));
        break;
      case 'conversation.item.input_audio_transcription.completed':
        this.#completeTranscript(event.item_id, event.transcript, 'done');
        this.#markTurn(event.item_id, 'transcript');
        break;
      case 'conversation.item.input_audio_transcription.failed':
        this.#completeTranscript(event.item_id, event.error.message, 'failed');
        break;
      case 'response.created':
        this.#set({
          request: undefined,
          response: { id: event.response.id, turnId: this.state.turns.at(-1)?.id, isCancelled: false },
        });
        break;
      case 'response.output_item.added':
        this.#startMessage(event);
        break;
      case 'response.output_text.delta':
        this.#addText(event.item_id, event.delta, undefined);
        this.#changeAssistant(event.item_id, (entry) => ({ ...entry, isPlayed: true }));
        break;
      case 'response.output_audio_transcript.delta':
        this.#addText(event.item_id, event.delta, event.start_time);
        break;
      case 'response.output_audio.delta':
        this.#addAudio(event);
        break;
      case 'response.output_item.done':
        this.#endItem(event);
        break;
      case 'response.done':
        this.#endResponse(event);
        break;
      case 'error':
        this.#showError(event);
        break;
    }
  }

  // The user.

  #startSpeech(itemId: string): void {
    this.#interrupt();
    // The response to this turn answers the outputs of functions, too.
    this.#set({ speakingId: itemId, owesResponse: false, error: undefined });
    this.#addUser({ kind: 'user', id: itemId, text: '', state: 'speaking' });
  }

  #stopSpeech({
    item_id: id,
    audio_end_ms: endMs,
  }: ServerEventOf<'input_audio_buffer.speech_stopped'>): void {
    const { inputStartMs, nowMs } = this.#context;
    this.#set({ speakingId: undefined });
    this.#addTurn(id, 'voice', inputStartMs === undefined ? nowMs : inputStartMs + endMs);
  }

  #commitTurn(itemId: string): void {
    const { entries, turns, released, transcribing, speakingId } = this.state;
    if (findEntry(entries, 'user', itemId) === undefined) {
      const [turn, ...later] = released;
      this.#set({ released: later });
      this.#addUser({ kind: 'user', id: itemId, text: '', state: 'transcribing' });
      this.#addTurn(itemId, 'button', turn?.releasedMs ?? this.#context.nowMs);
    } else {
      this.#changeUser(itemId, (entry) => ({ ...entry, state: 'transcribing' }));
      if (!turns.some(({ id }) => id === itemId)) this.#addTurn(itemId, 'voice', this.#context.nowMs);
    }
    this.#set({
      transcribing: [...transcribing, itemId],
      ...(speakingId === itemId && { speakingId: undefined }),
    });
    this.#markTurn(itemId, 'decision');
  }

  #completeTranscript(itemId: string, text: string, state: 'done' | 'failed'): void {
    this.#set({ transcribing: this.state.transcribing.filter((id) => id !== itemId) });
    this.#changeUser(itemId, (entry) => ({ ...entry, text, state }));
  }

  #release(turn: FinishedTurn | undefined): void {
    this.#set({ isButtonDown: false });
    if (turn === undefined) return;
    if (turn.endMs - turn.startMs < MIN_TURN_MS) {
      this.#send({ type: 'input_audio_buffer.clear' });
      return;
    }
    this.#set({ released: [...this.state.released, turn] });
    this.#send({ type: 'input_audio_buffer.commit' });
    this.#request();
  }

  #sendText(text: string): void {
    this.#stop();
    const id = `typed_${this.#newId()}`;
    this.#set({ error: undefined });
    this.#addUser({ kind: 'user', id, text, state: 'done' });
    this.#addTurn(id, 'text', this.#context.nowMs);
    const content = [{ type: 'input_text', text }];
    this.#send({ type: 'conversation.item.create', item: { id, type: 'message', role: 'user', content } });
    this.#request();
  }

  /** Cancels the response and its playback. */
  #stop(): void {
    const { response, request } = this.state;
    if (request !== undefined || response?.isCancelled === false) this.#send({ type: 'response.cancel' });
    if (response !== undefined) this.#set({ response: { ...response, isCancelled: true } });
    this.#set({ owesResponse: false });
    this.#interrupt();
  }

  /** Stops the playback, and reports to the service what was played. */
  #interrupt(): void {
    const { entries, isPlaying } = this.state;
    for (const entry of entries) {
      if (entry.kind !== 'assistant' || entry.isPlayed || entry.interruptedMs !== undefined) continue;
      const { playedMs = 0, lengthMs = 0 } = this.#playbackOf(entry.id) ?? {};
      if (entry.isComplete && playedMs >= lengthMs) {
        this.#changeAssistant(entry.id, (each) => ({ ...each, isPlayed: true }));
        continue;
      }
      const audioEndMs = Math.floor(Math.min(playedMs, lengthMs));
      this.#changeAssistant(entry.id, (each) => ({ ...each, interruptedMs: audioEndMs }));
      this.#send({
        type: 'conversation.item.truncate',
        item_id: entry.id,
        content_index: 0,
        audio_end_ms: audioEndMs,
      });
    }
    if (isPlaying) this.effects.push({ kind: 'stop_playback' });
    this.#set({ isPlaying: false });
  }

  // The assistant.

  #startMessage({ response_id, item }: ServerEventOf<'response.output_item.added'>): void {
    const { response, entries } = this.state;
    if (item.type !== 'message' || response?.isCancelled === true) return;
    const entry: AssistantEntry = {
      kind: 'assistant',
      id: item.id,
      responseId: response_id,
      pieces: [],
      audioMs: 0,
      isComplete: false,
      isPlayed: false,
      interruptedMs: undefined,
    };
    this.#set({ entries: addEntry(entries, entry) });
  }

  /** @param startS time of the text in the audio, if it is known; otherwise it precedes the next audio. */
  #addText(itemId: string, text: string, startS: number | undefined): void {
    this.#markResponse('token');
    this.#changeAssistant(itemId, (entry) => {
      const startMs = startS === undefined ? entry.audioMs : startS * 1000;
      return { ...entry, pieces: [...entry.pieces, { text, startMs }] };
    });
  }

  #addAudio({ item_id: itemId, delta }: ServerEventOf<'response.output_audio.delta'>): void {
    const entry = findEntry(this.state.entries, 'assistant', itemId);
    if (entry === undefined || entry.interruptedMs !== undefined) return;
    this.#markResponse('audio');
    const audioMs = entry.audioMs + base64Bytes(delta) / BYTES_PER_MS;
    this.#changeAssistant(itemId, (each) => ({ ...each, audioMs }));
    this.#set({ isPlaying: true, hasSpoken: true });
    this.effects.push({ kind: 'play', itemId, audio: delta });
  }

  #endItem({ response_id, item }: ServerEventOf<'response.output_item.done'>): void {
    if (item.type === 'message') {
      this.#changeAssistant(item.id, (entry) => ({ ...entry, isComplete: true }));
      if (!this.state.isPlaying) this.#endPlayback();
      return;
    }
    if (this.state.response?.isCancelled === true) return;
    const { id, call_id: callId, name, arguments: args } = item;
    const isAutomatic = this.#context.runsTool(name);
    const entry: ToolEntry = {
      kind: 'tool',
      id,
      responseId: response_id,
      callId,
      name,
      arguments: args,
      output: undefined,
      isAutomatic,
    };
    this.#markResponse('token');
    this.#set({ entries: addEntry(this.state.entries, entry) });
    if (isAutomatic) this.effects.push({ kind: 'call_tool', callId, name, arguments: args });
  }

  #endResponse({ response: ended }: ServerEventOf<'response.done'>): void {
    const { response, owesResponse, entries } = this.state;
    const timing = parseTiming((ended as { readonly timing?: unknown }).timing);
    this.#changeTurn(response?.turnId, (turn) => ({ ...turn, reported: { ...timing, ...turn.reported } }));
    if (ended.status === 'failed') {
      const entry = { kind: 'error', id: ended.id, text: ended.status_details.error.message } as const;
      this.#set({ entries: addEntry(entries, entry) });
    }
    this.#set({ response: undefined });
    if (owesResponse) this.#request();
  }

  /** Marks the messages that are complete as played. */
  #endPlayback(): void {
    this.#set({
      isPlaying: false,
      entries: this.state.entries.map((entry) =>
        entry.kind === 'assistant' && entry.isComplete && entry.interruptedMs === undefined
          ? { ...entry, isPlayed: true }
          : entry,
      ),
    });
  }

  #sendToolOutput(callId: string, output: string): void {
    const call = this.state.entries.find(
      (entry): entry is ToolEntry =>
        entry.kind === 'tool' && entry.callId === callId && entry.output === undefined,
    );
    if (call === undefined) return;
    const { entries } = this.state;
    this.#set({ entries: changeEntry(entries, 'tool', call.id, (entry) => ({ ...entry, output })) });
    const item = { type: 'function_call_output', call_id: callId, output };
    this.#send({ type: 'conversation.item.create', item });
    const isLast = !this.state.entries.some(
      (entry) => entry.kind === 'tool' && entry.responseId === call.responseId && entry.output === undefined,
    );
    // The response to the turn in which the user is speaking answers the output.
    if (!isLast || this.state.speakingId !== undefined) return;
    if (this.state.response === undefined && this.state.request === undefined) this.#request();
    else this.#set({ owesResponse: true });
  }

  // The session.

  #showError({ error }: ServerEventOf<'error'>): void {
    // The response ended before its cancellation arrived.
    if (error.code === 'response_cancel_not_active') return;
    this.#set({
      error: error.message,
      ...(error.event_id !== null && error.event_id === this.state.request && { request: undefined }),
    });
  }

  #end(message: string | undefined): void {
    const entries = this.state.entries.flatMap((entry) => this.#ended(entry));
    this.#set({
      phase: 'ended',
      message,
      entries,
      speakingId: undefined,
      isButtonDown: false,
      isPlaying: false,
      transcribing: [],
      released: [],
      request: undefined,
      response: undefined,
      owesResponse: false,
    });
    this.effects.push({ kind: 'stop_playback' });
  }

  /** An entry after the end of the session, when nothing more arrives; nothing for a turn without words. */
  #ended(entry: Entry): Entry[] {
    if (entry.kind === 'user' && (entry.state === 'speaking' || entry.state === 'transcribing')) {
      return entry.text === '' ? [] : [{ ...entry, state: 'done' }];
    }
    if (entry.kind === 'assistant' && !entry.isPlayed && entry.interruptedMs === undefined) {
      return [{ ...entry, interruptedMs: this.#playbackOf(entry.id)?.playedMs ?? 0 }];
    }
    return [entry];
  }

  /** Requests a response. */
  #request(): void {
    const request = `response_${this.#newId()}`;
    this.#set({ request, owesResponse: false });
    this.#send({ type: 'response.create', event_id: request });
  }

  #newId(): number {
    this.#set({ sentIds: this.state.sentIds + 1 });
    return this.state.sentIds;
  }

  #send(frame: Frame): void {
    this.effects.push({ kind: 'send', frame });
  }

  #playbackOf(itemId: string): PlayedItem | undefined {
    return this.#context.playback.find((item) => item.itemId === itemId);
  }

  #addUser(entry: UserEntry): void {
    this.#set({ entries: addEntry(this.state.entries, entry) });
  }

  #changeUser(id: string, change: (entry: UserEntry) => UserEntry): void {
    this.#set({ entries: changeEntry(this.state.entries, 'user', id, change) });
  }

  /** Changes a message that was not interrupted. */
  #changeAssistant(id: string, change: (entry: AssistantEntry) => AssistantEntry): void {
    const entries = changeEntry(this.state.entries, 'assistant', id, (entry) =>
      entry.interruptedMs === undefined ? change(entry) : entry,
    );
    this.#set({ entries });
  }

  #addTurn(id: string, input: TurnTiming['input'], endMs: number): void {
    const turn: TurnTiming = { id, input, endMs, measured: {}, reported: {} };
    this.#set({ turns: [...this.state.turns.filter((each) => each.id !== id), turn].slice(-MAX_TURNS) });
  }

  #changeTurn(id: string | undefined, change: (turn: TurnTiming) => TurnTiming): void {
    this.#set({ turns: this.state.turns.map((turn) => (turn.id === id ? change(turn) : turn)) });
  }

  #markTurn(id: string | undefined, stage: Stage): void {
    this.#changeTurn(id, (turn) => withStage(turn, stage, this.#context.nowMs));
  }

  /** Sets a stage of the turn that the response answers. */
  #markResponse(stage: Stage): void {
    this.#markTurn(this.state.response?.turnId, stage);
  }

  #set(changes: Partial<SessionState>): void {
    this.state = { ...this.state, ...changes };
  }
}
