/** The session: sent first and after each update, and changed only by client events (spec 2.6, 3.4, 4.7). */

import type { ClientRequest } from './client-requests.ts';
import type { Report } from './rules.ts';
import type { ServerFrame, State } from './state.ts';
import { at, type Fields, fieldsOf, isFields, same, shown, textAt } from './trace.ts';

/** Each setting, and its flat name of older clients (openai-wire 8.3). */
const SETTINGS: readonly (readonly [path: string, flat: string | undefined])[] = [
  ['type', undefined],
  ['audio.input.format', 'input_audio_format'],
  ['audio.input.transcription', 'input_audio_transcription'],
  ['audio.input.turn_detection', 'turn_detection'],
  ['audio.input.noise_reduction', 'input_audio_noise_reduction'],
  ['audio.output.format', 'output_audio_format'],
  ['audio.output.voice', 'voice'],
  ['output_modalities', 'modalities'],
  ['tts_model', undefined],
];

export function sessionRules(state: State, event: ServerFrame, report: Report): State {
  const { type, fields } = event;
  if (type === 'session.created') {
    if (state.session !== undefined) report('session-first', 'a second session.created');
    const session = fieldsOf(fields.session);
    sessionShape(session, report);
    return { ...state, session };
  }
  if (state.session === undefined) {
    report('session-first', `${shown(type)} came before session.created`);
    // Prevents further reports of this rule.
    return { ...state, session: {} };
  }
  if (type !== 'session.updated') return state;
  const session = fieldsOf(fields.session);
  sessionShape(session, report);
  if (textAt(state.session, 'id') !== textAt(session, 'id')) {
    report('session-same', `the session was ${shown(state.session.id)} and is now ${shown(session.id)}`);
  }
  if (event.repliesTo !== undefined) {
    unsentFields(state.session, session, fieldsOf(event.repliesTo.frame.session), report);
    rejectedFields(state.session, session, event.repliesTo.rejectedParams, report);
    if (!event.repliesTo.mayBeSilent) sentFields(event.repliesTo, session, report);
  }
  return { ...state, session };
}

function sessionShape(session: Fields, report: Report): void {
  if (textAt(session, 'id')?.startsWith('sess_') !== true) {
    report('id-prefix', `the id of a session begins with sess_; ${shown(session.id)} does not`);
  }
  if (session.object !== 'realtime.session') {
    report('session-same', `session.object must be "realtime.session", not ${shown(session.object)}`);
  }
}

function unsentFields(before: Fields, after: Fields, sent: Fields, report: Report): void {
  for (const [path, flat] of SETTINGS) {
    if (touches(sent, path) || (flat !== undefined && Object.hasOwn(sent, flat))) continue;
    if (!same(at(before, path), at(after, path))) {
      report(
        'session-keeps',
        `session.${path} was not sent, but went from ${shown(at(before, path))} to ${shown(at(after, path))}`,
      );
    }
  }
}

/** Whether an update contains a setting or replaces one of its parents. */
function touches(sent: Fields, path: string): boolean {
  if (at(sent, path) !== undefined) return true;
  const names = path.split('.');
  return names.slice(1).some((_, count) => {
    const whole = at(sent, names.slice(0, count + 1).join('.'));
    return whole !== undefined && (typeof whole !== 'object' || whole === null);
  });
}

function rejectedFields(before: Fields, after: Fields, params: readonly string[], report: Report): void {
  for (const param of params) {
    const path = param.replace(/^session\./, '');
    const value = at(before, path);
    // A setting that was absent may have received its default.
    if (path === param || value === undefined || same(value, at(after, path))) continue;
    report('session-rejection', `${param} was refused, but went to ${shown(at(after, path))}`);
  }
}

/** Settings that apply as sent or are rejected. */
const APPLIED = [
  'type',
  'audio.input.format.type',
  'audio.input.format.rate',
  'audio.input.turn_detection',
  'audio.input.turn_detection.type',
  'audio.input.turn_detection.threshold',
  'audio.input.turn_detection.prefix_padding_ms',
  'audio.input.turn_detection.silence_duration_ms',
  'audio.input.noise_reduction',
  'audio.output.format.type',
  'audio.output.format.rate',
  'audio.output.voice',
  'output_modalities',
  'tts_model',
];

function sentFields({ frame, rejectedParams }: ClientRequest, after: Fields, report: Report): void {
  // A rejected type rejects its fields too, and a format is one value.
  const paths = rejectedParams.map((param) => param.replace(/^session\./, '').replace(/\.(type|rate)$/, ''));
  for (const path of APPLIED) {
    const sent = sessionForm(path, at(frame, `session.${path}`));
    if (sent === undefined || same(sent, at(after, path))) continue;
    if (
      paths.some(
        (each) => each === 'session' || `${path}.`.startsWith(`${each}.`) || each.startsWith(`${path}.`),
      )
    )
      continue;
    report(
      'session-rejection',
      `session.${path} was sent as ${shown(sent)}, and neither applies nor was refused`,
    );
  }
}

/** A value in its session form: a voice as its id; undefined when the session uses another form. */
function sessionForm(path: string, sent: unknown): unknown {
  const isVoice = path.endsWith('.voice');
  if (!isFields(sent)) return isVoice ? (sent ?? undefined) : sent;
  if (isVoice) return sent.id;
  return path.endsWith('turn_detection') ? undefined : sent;
}

/** Whether the session, as last sent, detects turns. */
export function detectsTurns(state: State): boolean {
  return textAt(state.session, 'audio.input.turn_detection.type') === 'server_vad';
}
