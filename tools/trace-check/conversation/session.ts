/** The session of a conversation: sent first and after each update, and changed only by the client. */

import { at, type Fields, fieldsOf, isFields, same, shown } from '../rules/trace.ts';
import type { Report } from './rules.ts';
import { type ConversationState, detectionOf, type Names, type Rules } from './state.ts';

/** The settings: their path in both protocols, and the name of a field that they have in an update of the other one. */
const SETTINGS: readonly (readonly [ga: string, beta: string])[] = [
  ['instructions', 'instructions'],
  ['tools', 'tools'],
  ['tool_choice', 'tool_choice'],
  ['truncation', 'truncation'],
  ['output_modalities', 'modalities'],
  ['max_output_tokens', 'max_response_output_tokens'],
  ['audio.input.format', 'input_audio_format'],
  ['audio.input.transcription', 'input_audio_transcription'],
  ['audio.input.noise_reduction', 'input_audio_noise_reduction'],
  ['audio.input.turn_detection', 'turn_detection'],
  ['audio.output.format', 'output_audio_format'],
  ['audio.output.voice', 'voice'],
  ['audio.output.speed', 'speed'],
];

/** The names of a conversation, by its first session; undefined if the session is another one. */
export function namesOf(session: unknown): Names | undefined {
  if (!isFields(session) || session.type !== 'realtime' || typeof session.model !== 'string')
    return undefined;
  return isFields(session.audio) ? 'ga' : 'beta';
}

export const sessionRules: Rules = (state, { type, fields, request }, report) => {
  if (type === 'session.created') {
    if (Object.keys(state.session).length > 0) report('session-first', 'a second session.created');
    return withSession(state, fieldsOf(fields.session));
  }
  if (type !== 'session.updated') return state;
  const session = fieldsOf(fields.session);
  for (const name of ['id', 'object', 'type', 'model', 'expires_at']) {
    if (!same(state.session[name], session[name])) {
      report(
        'session-same',
        `session.${name} was ${shown(state.session[name])} and is now ${shown(session[name])}`,
      );
    }
  }
  // If the whole update may have been rejected, it is unknown whether this is its reply.
  if (request !== undefined && !request.mayBeSilent) {
    changes(state, session, fieldsOf(request.frame.session), request.rejectedParams, report);
  }
  return withSession(state, session);
};

function withSession(state: ConversationState, session: Fields): ConversationState {
  const next = { ...state, session };
  return { ...next, hasDetected: state.hasDetected || detectionOf(next) !== undefined };
}

function changes(
  state: ConversationState,
  session: Fields,
  sent: Fields,
  rejectedParams: readonly string[],
  report: Report,
): void {
  const isRejected = (path: string) =>
    rejectedParams.some((param) => {
      const name = param.replace(/^session\.?/, '');
      return name === '' || path.startsWith(name) || name.startsWith(path);
    });
  for (const paths of SETTINGS) {
    const path = paths[state.names === 'ga' ? 0 : 1];
    const [before, after] = [at(state.session, path), at(session, path)];
    // The choice of a tool ends with the tool.
    const isDependent = path === 'tool_choice' && sent.tools !== undefined;
    if (!isDependent && !paths.some((each) => touches(sent, each)) && !same(before, after)) {
      report(
        'session-keeps',
        `session.${path} was not sent, but went from ${shown(before)} to ${shown(after)}`,
      );
    }
    const value = paths.map((each) => at(sent, each)).find((each) => each !== undefined);
    const isPlain =
      typeof value === 'string' ? path === 'instructions' : value === null && /detection/.test(path);
    if (isPlain && !isRejected(path) && !same(value, after)) {
      report(
        'session-applies',
        `session.${path} was sent as ${shown(value)}, and neither applies nor is refused`,
      );
    }
  }
}

/** Whether an update contains a setting or replaces one of its parents. */
function touches(sent: Fields, path: string): boolean {
  if (at(sent, path) !== undefined) return true;
  const names = path.split('.');
  return names.slice(1).some((_, count) => {
    const parent = at(sent, names.slice(0, count + 1).join('.'));
    return parent !== undefined && !isFields(parent);
  });
}
