import { writeFile } from 'node:fs/promises';
import type {
  ExtensionRequest,
  ExtensionWork,
  VideoEngine,
  VideoSegment,
} from '../../src/contract/engines/video.ts';
import { fakeClip } from './fake-clips.ts';

type Extend = VideoEngine['extend'];

/** A scripted video engine without a model. */
export class FakeVideoEngine implements VideoEngine {
  readonly audio = true;
  readonly note = 'makes nothing up';
  readonly requests: ExtensionRequest[] = [];
  readonly forgotten: string[] = [];
  /** Implementations of the next calls of `extend`; default: {@link makeIt}. */
  readonly script: Extend[] = [];

  async extend(request: ExtensionRequest, work: ExtensionWork, signal: AbortSignal): Promise<VideoSegment> {
    this.requests.push(request);
    const extend = this.script.shift() ?? makeIt;
    return await extend(request, work, signal);
  }

  ready() {
    return { ready: true };
  }

  async deleteRemoteJob(savedState: string): Promise<void> {
    this.forgotten.push(savedState);
  }

  async close(): Promise<void> {}
}

/** Writes a clip that can be continued. */
export const makeIt: Extend = async ({ width, height, seconds }, { to }) => {
  await writeFile(to, fakeClip({ width, height, durationS: seconds, frames: seconds * 24 }));
  return { width, height, seconds, audio: true };
};

/** Waits until it is aborted. */
export const hang: Extend = (_request, _work, signal) =>
  new Promise((_resolve, reject) => {
    const stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
