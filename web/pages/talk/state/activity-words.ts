/** The activity of a conversation in words. */

import type { Activity } from './session-state.ts';

export interface ActivityWords {
  readonly title: string;
  /** What happens next, or what the user can do. */
  readonly detail: string;
}

export interface InputState {
  readonly isPushToTalk: boolean;
  readonly microphone: 'opening' | 'open' | 'unavailable';
}

/**
 * @param activity undefined before the first conversation.
 * @param message progress of a load, or why the conversation ended.
 */
export function activityWords(
  activity: Activity | undefined,
  input: InputState,
  message: string | undefined,
): ActivityWords {
  switch (activity) {
    case undefined:
      return { title: 'Ready to start', detail: 'Press Start, allow the microphone, and speak.' };
    case 'connecting':
      return {
        title: 'Connecting…',
        detail: 'The first start loads a language model, which can take a minute.',
      };
    case 'loading':
      return {
        title: 'Loading the language model…',
        detail: `${message ?? ''} The conversation starts automatically.`.trimStart(),
      };
    case 'waiting':
      return waitingWords(input);
    case 'hearing':
      return {
        title: 'You are speaking',
        detail: input.isPushToTalk ? 'Release to send.' : 'Pause to get an answer.',
      };
    case 'thinking':
      return { title: 'Thinking…', detail: 'The assistant prepares its answer.' };
    case 'speaking':
      return { title: 'Speaking', detail: speakingDetail(input) };
    case 'needs_output':
      return { title: 'Waiting for an output', detail: 'Enter the output of the function below.' };
    case 'ended':
      return { title: 'Conversation ended', detail: 'The next one starts without memory of this one.' };
  }
}

function waitingWords({ isPushToTalk, microphone }: InputState): ActivityWords {
  switch (microphone) {
    case 'opening':
      return { title: 'Waiting for the microphone', detail: 'Allow access in the browser, or type.' };
    case 'unavailable':
      return { title: 'Ready', detail: 'Type a message. Speaking needs a microphone.' };
    case 'open':
      return isPushToTalk
        ? { title: 'Ready', detail: 'Hold the button or the space bar while you speak.' }
        : { title: 'Listening', detail: 'Speak whenever you are ready.' };
  }
}

function speakingDetail({ isPushToTalk, microphone }: InputState): string {
  if (microphone !== 'open') return 'You can stop the answer.';
  return isPushToTalk ? 'Hold the button to interrupt.' : 'Speak to interrupt.';
}
