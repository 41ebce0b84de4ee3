import { Button } from '@mantine/core';
import { useLocation, useRoute } from 'wouter';
import { Icon } from '../../parts/icon.tsx';
import { Page } from '../../parts/page.tsx';
import { NewVideo } from './new-video.tsx';
import { VideoDetail } from './video-detail.tsx';
import { VideoList } from './video-list.tsx';

/**
 * Lists videos. `/video/new` is the form for a new video, `/video/new/<id>` extends that video, `/video/<id>`
 * shows one video.
 */
export default function VideoPage() {
  const [, navigate] = useLocation();
  const [, params] = useRoute('/video/:place?/:of?');
  const { place, of } = params ?? {};
  const toList = () => navigate('/video');
  const open = (id: string) => navigate(`/video/${id}`);
  const action =
    place === undefined ? (
      <Button leftSection={<Icon name="plus" size={16} />} onClick={() => open('new')}>
        Extend a clip
      </Button>
    ) : (
      <Button variant="default" leftSection={<Icon name="back" size={16} />} onClick={toList}>
        All videos
      </Button>
    );
  return (
    <Page title="Video" text="Generate a new segment that continues the end of a clip." actions={action}>
      {place === undefined && <VideoList />}
      {place === 'new' && <NewVideo key={of} of={of} onMade={open} />}
      {place !== undefined && place !== 'new' && (
        <VideoDetail
          key={place}
          id={place}
          onDeleted={toList}
          onContinue={(id) => navigate(`/video/new/${id}`)}
        />
      )}
    </Page>
  );
}
