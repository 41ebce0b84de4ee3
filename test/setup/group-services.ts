import type { LaunchedService } from '../../tools/harness/services/launcher.ts';
import { launchRealtimeService } from '../../tools/harness/services/realtime-service.ts';
import { launchStubbedService } from '../../tools/harness/services/stubbed-service.ts';

/** The services that the files of a group share. All plugins are on; limits and prices have their defaults. */

/** A started service. */
export interface GroupService {
  readonly baseUrl: string;
  /** Address with TLS, and the path of its certificate; only of `embedded`. */
  readonly tls?: { readonly url: string; readonly certificate: string };
  readonly hasExited: () => boolean;
  readonly output: () => string;
  readonly close: () => Promise<void>;
}

/** Organizations of a file. */
const ORGANIZATIONS = ['a', 'b', 'c', 'd'];
const MAX_FILES = 100;

/** Keys of the organizations of a file, in their order. @param file its number, from 0. */
export function keysOfFile(file: number): string[] {
  if (file >= MAX_FILES) throw new Error(`more than ${MAX_FILES} files share a service`);
  return ORGANIZATIONS.map((name) => `test-key-of-${name}-${file}`);
}

const API_KEYS = Array.from({ length: MAX_FILES }, (_, file) =>
  keysOfFile(file).map((key, index) => `${key}:${ORGANIZATIONS[index]}-${file}`),
)
  .flat()
  .join(',');

/** Two processes for models, because files that need them run at the same time. */
const EMBEDDED = `
[inference]
workers = 2
[models."svc-tts-fast"]
kind = "piper"
[models."svc-voice"]
kind = "conversation"
llm = "smollm2-135m-instruct"
tts = "svc-tts-fast"
[[lexicon.entries]]
word = "aubergine"
respelling = "eggplant"
`;

/** The service with the default models and those of {@link EMBEDDED}, also listening with TLS. */
export async function embedded(): Promise<GroupService> {
  const service = await launchRealtimeService({
    models: EMBEDDED,
    env: { PLUGINS: undefined, API_KEYS },
  });
  return {
    ...groupService(service),
    tls: { url: service.tlsUrl, certificate: service.certificate },
    close: async () => void (await service.stop()),
  };
}

/** Speech, transcription, text and embeddings of upstream servers with known responses. */
export async function scripted(): Promise<GroupService> {
  const { service, close } = await launchStubbedService('', { API_KEYS });
  return { ...groupService(service), close };
}

function groupService({ baseUrl, output, exited }: LaunchedService) {
  let isRunning = true;
  void exited.then(() => {
    isRunning = false;
  });
  return { baseUrl, output, hasExited: () => !isRunning };
}
