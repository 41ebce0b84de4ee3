import { Progress, Stack, Text } from '@mantine/core';
import type { ModelLoad } from '../client/models.ts';
import { formatBytes } from './format.ts';

/** State of a model that is loaded on demand, with a progress bar during the download. */
export function ModelLoadState(props: { readonly model: string; readonly load: ModelLoad }) {
  const { model, load } = props;
  return (
    <Stack gap={4}>
      <Text size="sm" c={load.state === 'failed' ? 'red' : 'dimmed'}>
        {textOf(load)}
      </Text>
      {load.state === 'downloading' && (
        <Progress value={load.percent ?? 0} size="sm" animated aria-label={`Download of ${model}`} />
      )}
    </Stack>
  );
}

function textOf({ state, percent, downloaded_bytes: done, total_bytes: total }: ModelLoad): string {
  switch (state) {
    case 'not_loaded':
      return 'Not loaded. The first request downloads and loads it.';
    case 'downloading': {
      if (percent === undefined || done === undefined || total === undefined) return 'Downloading';
      return `Downloading: ${percent} %, ${formatBytes(done)} of ${formatBytes(total)}`;
    }
    case 'loading':
      return 'Loading';
    case 'loaded':
      return 'Loaded';
    case 'failed':
      return 'The download or load failed and is tried again.';
  }
}
