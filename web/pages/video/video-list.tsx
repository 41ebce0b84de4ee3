import { AspectRatio, Center, Group, Paper, Progress, SimpleGrid, Stack, Text } from '@mantine/core';
import { Link } from 'wouter';
import { usePages } from '../../client/use-pages.ts';
import { Empty } from '../../components/feedback/empty.tsx';
import { ErrorAlert } from '../../components/feedback/error-alert.tsx';
import { formatTime } from '../../components/format.ts';
import { Pager } from '../../components/pager.tsx';
import { useObjectUrl } from '../../components/use-object-url.ts';
import { useContent } from './use-content.ts';
import classes from './video.module.css';
import { isFinal, VideoStatus } from './video-status.tsx';
import type { Video } from './video-wire.ts';

const INTERVAL_MS = 15_000;
const RUNNING_INTERVAL_MS = 1500;

/** The organization's videos, newest first. */
export function VideoList() {
  const pages = usePages<Video>(
    'v1/videos',
    { limit: 12 },
    {
      intervalMs: INTERVAL_MS,
      dynamicIntervalMs: (page) =>
        page?.data.some((video) => !isFinal(video)) ? RUNNING_INTERVAL_MS : undefined,
    },
  );
  const { page, error, reload } = pages;
  return (
    <Stack gap="md">
      <ErrorAlert error={error} onRetry={reload} />
      {page?.data.length === 0 && (
        <Empty text="No videos yet. Extend a short clip: MP4 or QuickTime, 2 to 15 seconds." />
      )}
      {page !== undefined && (
        <SimpleGrid cols={{ base: 1, xs: 2, md: 3 }} spacing="md">
          {page.data.map((video) => (
            <Card key={video.id} video={video} />
          ))}
        </SimpleGrid>
      )}
      <Pager pages={pages} />
    </Stack>
  );
}

function Card({ video }: { readonly video: Video }) {
  const { id, prompt, model, seconds, size, status, progress, created_at: createdAt } = video;
  return (
    <Paper component="article" withBorder className={classes.card}>
      <AspectRatio ratio={16 / 9}>
        {status === 'completed' ? <Thumbnail id={id} /> : <PendingThumbnail video={video} />}
      </AspectRatio>
      <Stack gap={4} p="sm">
        <Link href={`/video/${id}`} className={classes.open}>
          {prompt}
        </Link>
        <Group gap="xs">
          <VideoStatus status={status} />
          {status === 'in_progress' && (
            <Progress value={progress} size="sm" flex={1} aria-label={`${progress} percent`} />
          )}
        </Group>
        <Text size="xs" c="dimmed">
          {model}, {seconds} s, {size}
        </Text>
        <Text size="xs" c="dimmed">
          {formatTime(createdAt)}
        </Text>
      </Stack>
    </Paper>
  );
}

function Thumbnail({ id }: { readonly id: string }) {
  const { value } = useContent(id, 'thumbnail');
  const address = useObjectUrl(value);
  return address === undefined ? (
    <div className={classes.blank} />
  ) : (
    <img src={address} alt="" className={classes.frame} />
  );
}

function PendingThumbnail({ video }: { readonly video: Video }) {
  return (
    <Center className={classes.blank}>
      <Text size="sm" c="dimmed">
        {video.status === 'failed' ? 'No output' : `${video.progress} %`}
      </Text>
    </Center>
  );
}
