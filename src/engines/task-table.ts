/** Opens all models of a task. */

import type { ModelSettings } from '../contract/core/settings.ts';
import type { ReadyReport } from '../contract/engines/engine.ts';
import type { ModelTable } from '../contract/model-table.ts';
import type { ServiceHandle } from '../kit/lifecycle/lazy-services.ts';
import { familiesOf } from './families.ts';
import type { EngineFamily, EngineHost, Engines, EngineTask } from './family.ts';
import { languageTable } from './language-table.ts';

type Followers = ReadonlyMap<string, string>;

/** What is done with the engines of a task before requests use them. */
type Decorations = {
  readonly [Task in EngineTask]: (
    engines: ReadonlyMap<string, Engines[Task]>,
    host: EngineHost,
  ) => ReadonlyMap<string, Engines[Task]>;
};

const DECORATIONS: Decorations = {
  speech: (engines, { tables, instrument }) =>
    decorated(languageTable(tables.speech, engines), instrument.tts),
  transcription: (engines, { instrument }) => decorated(engines, instrument.stt),
  chat: (engines, { instrument }) => decorated(engines, instrument.text),
  embeddings: (engines, { instrument }) => decorated(engines, instrument.embed),
  video: (engines, { instrument }) => decorated(engines, instrument.video),
  conversation: (engines) => engines,
};

function decorated<Engine>(
  engines: ReadonlyMap<string, Engine>,
  decorate: (id: string, engine: Engine) => Engine,
): ReadonlyMap<string, Engine> {
  return new Map([...engines].map(([id, engine]) => [id, decorate(id, engine)]));
}

/**
 * Opens the models of a task, in the order of CONFIG. The handle closes the engines, and then what they share.
 * @param followers by id: the model that it follows.
 * @throws the error of a model, after closing the others.
 */
export async function openTask<Task extends EngineTask>(
  task: Task,
  host: EngineHost,
  followers: Followers,
): Promise<ServiceHandle<ModelTable<Engines[Task]>>> {
  const closing = new AsyncDisposableStack();
  const models = host.tables[task];
  try {
    const opened = new Map<string, Engines[Task]>();
    for (const family of familiesOf(task)) {
      for (const [id, engine] of await openFamily(family, models, followers, host, closing)) {
        opened.set(id, engine);
      }
    }
    const inOrder = new Map([...models.keys()].flatMap((id) => pairOf(id, opened.get(id))));
    const engines = DECORATIONS[task](inOrder, host);
    return {
      value: { ids: [...engines.keys()], get: (id) => engines.get(id) },
      close: () => closing.disposeAsync(),
    };
  } catch (error) {
    await closing.disposeAsync();
    throw error;
  }
}

async function openFamily<Task extends EngineTask>(
  { kind, open, follow }: EngineFamily<Task>,
  models: ReadonlyMap<string, ModelSettings>,
  followers: Followers,
  host: EngineHost,
  closing: AsyncDisposableStack,
): Promise<ReadonlyMap<string, Engines[Task]>> {
  const own = [...models].filter(([, settings]) => settings.kind === kind);
  const isFollower = ([id]: readonly [string, ModelSettings]) => follow !== undefined && followers.has(id);
  const { engines, shared = [] } = await open(new Map(own.filter((each) => !isFollower(each))), host);
  for (const each of shared) closing.defer(() => each.close());
  for (const engine of engines.values()) closing.defer(() => closeEngine(engine));
  const all = new Map(engines);
  for (const [id, settings] of own.filter(isFollower)) {
    const followed = engines.get(followers.get(id) ?? '');
    if (followed !== undefined && follow !== undefined) all.set(id, await follow(followed, settings));
  }
  return all;
}

function pairOf<Engine>(id: string, engine: Engine | undefined): [string, Engine][] {
  return engine === undefined ? [] : [[id, engine]];
}

async function closeEngine(engine: { ready(): ReadyReport; close?(): Promise<void> }): Promise<void> {
  await engine.close?.();
}
