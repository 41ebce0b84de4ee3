/** All families of engines. */

import type { ModelSettings } from '../contract/core/settings.ts';
import { continuation } from './continuation/index.ts';
import { conversation } from './conversation/index.ts';
import type { AnyComponent, AnyFamily, EngineFamily, EngineTask } from './family.ts';
import { kokoro, kokoroVoiceFitter } from './kokoro/index.ts';
import { llama } from './llama/index.ts';
import { minilm } from './minilm/index.ts';
import { piper, piperFastSpeech } from './piper/index.ts';
import { silero } from './silero/index.ts';
import { smartTurn } from './smart-turn/index.ts';
import { speakers } from './speakers/index.ts';
import { upstream } from './upstream/index.ts';
import { whisper } from './whisper/index.ts';

/** In the order in which messages list the kinds. */
export const FAMILIES: readonly AnyFamily[] = [
  kokoro,
  piper,
  whisper,
  llama,
  minilm,
  continuation,
  conversation,
  ...upstream,
];

/** Engines that CONFIG does not name, in the order in which they are opened. */
export const COMPONENTS: readonly AnyComponent[] = [
  speakers,
  kokoroVoiceFitter,
  silero,
  piperFastSpeech,
  smartTurn,
];

/** The families of a task. */
export function familiesOf<Task extends EngineTask>(task: Task): readonly EngineFamily<Task>[] {
  const isOfTask = (family: AnyFamily): family is AnyFamily & EngineFamily<Task> => family.task === task;
  return FAMILIES.filter(isOfTask);
}

/** The family of a model. @throws Error for settings that no family has parsed. */
export function familyOf<Task extends EngineTask>(task: Task, { kind }: ModelSettings): EngineFamily<Task> {
  const family = familiesOf(task).find((each) => each.kind === kind);
  if (family === undefined) throw new Error(`no family '${kind}' for ${task}`);
  return family;
}
