import { describe, expect, test } from 'vitest';
import { HUB_WHISPER_WEIGHTS, hubWhisper } from './weights.ts';

describe('references to Whisper checkpoints', () => {
  test('are names of faster-whisper or repositories', () => {
    const paths = ['config.json', 'model.bin', 'tokenizer.json'];
    expect(hubWhisper('small')).toEqual({ repository: 'Systran/faster-whisper-small', paths });
    expect(hubWhisper('hf:owner/own-whisper-ct2')).toEqual({ repository: 'owner/own-whisper-ct2', paths });
    expect(hubWhisper('base')).toBeUndefined();
    expect(hubWhisper('/srv/folder')).toBeUndefined();
    expect(HUB_WHISPER_WEIGHTS).toContain('large-v3-turbo');
  });

  test('are rejected with a file', () => {
    expect(() => hubWhisper('hf:owner/repository/model.bin')).toThrow('must be hf:owner/repository');
  });
});
