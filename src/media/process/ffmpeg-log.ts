import { AV_LOG_QUIET, Log } from 'node-av';

/** Disables the log of FFmpeg in this process, because it may quote files. */
export function silenceFfmpeg(): void {
  Log.setLevel(AV_LOG_QUIET);
}
