import { Alert, Button, Group, Progress, SegmentedControl, SimpleGrid, Text } from '@mantine/core';
import { useRef, useState } from 'react';
import { useSession } from '../../client/session.tsx';
import { useLoad } from '../../client/use-load.ts';
import { CopyAction } from '../../components/code-block.tsx';
import { Confirm } from '../../components/feedback/confirm.tsx';
import { ErrorAlert } from '../../components/feedback/error-alert.tsx';
import { formatTime } from '../../components/format.ts';
import { Icon } from '../../components/icon.tsx';
import { Panel } from '../../components/panel.tsx';
import { saveFile } from '../../components/save-file.ts';
import { useObjectUrl } from '../../components/use-object-url.ts';
import { clipMemory, type Origin } from './clip-memory.ts';
import { PlayThrough, start } from './play-through.tsx';
import { useContent } from './use-content.ts';
import classes from './video.module.css';
import { isFinal, VideoStatus } from './video-status.tsx';
import type { Video } from './video-wire.ts';

/** Polling interval without a `retry-after` of the service, in ms. */
const POLL_MS = 2000;

/** One video: polled until it is finished, then shown with its source clip. */
export function VideoDetail(props: {
  readonly id: string;
  readonly onDeleted: () => void;
  readonly onContinue: (id: string) => void;
}) {
  const { id, onDeleted, onContinue } = props;
  const { client } = useSession();
  const [isDeleting, setDeleting] = useState(false);
  const path = `v1/videos/${encodeURIComponent(id)}`;
  const {
    value: seen,
    error,
    reload,
  } = useLoad(
    async (signal) => {
      const response = await client.send('GET', path, undefined, { signal });
      const video = (await response.json()) as Video;
      return { video, pollMs: Number(response.headers.get('openai-poll-after-ms') ?? POLL_MS) };
    },
    [client, path],
    {
      dynamicIntervalMs: (value) => (value !== undefined && !isFinal(value.video) ? value.pollMs : undefined),
    },
  );
  const isCompleted = seen?.video.status === 'completed';
  const segment = useContent(isCompleted ? id : undefined, 'video');
  if (seen === undefined) return <ErrorAlert error={error} onRetry={reload} />;
  const { video } = seen;
  const remove = async () => {
    await client.delete(path);
    onDeleted();
  };
  return (
    <>
      <Panel
        title="Video"
        actions={
          <Group gap="xs">
            {isCompleted && (
              <>
                <Button variant="default" onClick={() => onContinue(id)}>
                  Extend
                </Button>
                <Button
                  variant="default"
                  leftSection={<Icon name="download" size={16} />}
                  disabled={segment.value === undefined}
                  onClick={() => segment.value && saveFile(segment.value, `${id}.mp4`)}
                >
                  Download
                </Button>
              </>
            )}
            {isFinal(video) && (
              <Button variant="default" onClick={() => setDeleting(true)}>
                Delete
              </Button>
            )}
          </Group>
        }
      >
        <ErrorAlert error={error ?? segment.error} onRetry={error ? reload : segment.reload} />
        {video.metadata !== null && (
          <Alert color="blue" variant="light" role="note" p="xs" title="How this model works">
            {video.metadata.note}
          </Alert>
        )}
        {video.error !== null && (
          <Alert color="red" variant="light" p="xs" title={video.error.code} role="alert">
            {video.error.message}
          </Alert>
        )}
        <Facts video={video} />
        {!isFinal(video) && <Progress value={video.progress} aria-label={`${video.progress} percent`} />}
      </Panel>
      {segment.value !== undefined && <Players segment={segment.value} origin={clipMemory.of(id)} />}
      {isDeleting && (
        <Confirm
          title="Delete this video?"
          text="This deletes the job and its files."
          action="Delete video"
          onConfirm={remove}
          onClose={() => setDeleting(false)}
        />
      )}
    </>
  );
}

function Facts({ video }: { readonly video: Video }) {
  return (
    <div>
      <Text style={{ overflowWrap: 'anywhere' }}>{video.prompt}</Text>
      <Group gap="xs" mt={4} role="status">
        <VideoStatus status={video.status} />
        <Text size="sm" c="dimmed">
          {video.model}, {video.seconds} s, {video.size}, {video.audio ? 'with audio' : 'without audio'},{' '}
          {formatTime(video.created_at)}
        </Text>
      </Group>
      <Group gap={4} wrap="nowrap">
        <Text size="xs" c="dimmed" ff="monospace" style={{ overflowWrap: 'anywhere' }}>
          {video.id}
        </Text>
        <CopyAction text={video.id} label="Copy ID" />
      </Group>
    </div>
  );
}

type Mode = 'side-by-side' | 'through';

/** The segment, and the source clip if this tab has it. */
function Players({ segment, origin }: { readonly segment: Blob; readonly origin: Origin | undefined }) {
  const [mode, setMode] = useState<Mode>('side-by-side');
  const earlier = useContent(origin?.kind === 'video' ? origin.id : undefined, 'video');
  const clip = useObjectUrl(origin?.kind === 'file' ? origin.file : earlier.value);
  const created = useObjectUrl(segment);
  if (created === undefined) return null;
  return (
    <Panel
      title="Clip and segment"
      actions={
        clip !== undefined && (
          <SegmentedControl
            size="xs"
            aria-label="Playback"
            value={mode}
            onChange={(value) => setMode(value as Mode)}
            data={[
              { value: 'side-by-side', label: 'Side by side' },
              { value: 'through', label: 'Continuous' },
            ]}
          />
        )
      }
    >
      {clip !== undefined && mode === 'through' ? (
        <PlayThrough clip={clip} segment={created} />
      ) : (
        <SideBySide clip={clip} segment={created} />
      )}
      {clip === undefined && !earlier.isLoading && <Text size="sm">{missingClipReason(origin)}</Text>}
    </Panel>
  );
}

function missingClipReason(origin: Origin | undefined): string {
  switch (origin?.kind) {
    case 'url':
      return 'The source clip is not available: it was loaded from a URL, and the API does not return source clips.';
    case 'video':
      return 'The source video is no longer available.';
    default:
      return 'The source clip is not available: it was not uploaded from this tab, and the API does not return source clips.';
  }
}

function SideBySide({ clip, segment }: { readonly clip: string | undefined; readonly segment: string }) {
  const stage = useRef<HTMLDivElement>(null);
  const playBoth = () => {
    for (const video of stage.current?.querySelectorAll('video') ?? []) {
      video.currentTime = 0;
      start(video);
    }
  };
  return (
    <>
      <SimpleGrid cols={{ base: 1, sm: clip === undefined ? 1 : 2 }} ref={stage}>
        {clip !== undefined && <Player name="Clip" address={clip} />}
        <Player name="Segment" address={segment} />
      </SimpleGrid>
      {clip !== undefined && (
        <Button
          variant="default"
          w="fit-content"
          leftSection={<Icon name="play" size={16} />}
          onClick={playBoth}
        >
          Play both
        </Button>
      )}
    </>
  );
}

function Player({ name, address }: { readonly name: string; readonly address: string }) {
  return (
    <div>
      <Text size="xs" c="dimmed" mb={4}>
        {name}
      </Text>
      {/* biome-ignore lint/a11y/useMediaCaption: these videos have no captions */}
      <video src={address} controls preload="auto" className={classes.player} aria-label={name} />
    </div>
  );
}
