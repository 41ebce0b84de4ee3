import { Button } from '@mantine/core';
import { useLocation, useRoute } from 'wouter';
import { Icon } from '../../components/icon.tsx';
import { Page } from '../../components/page.tsx';
import { NewVideo } from './new-video.tsx';
import { VideoDetail } from './video-detail.tsx';
import { VideoList } from './video-list.tsx';

/**
 * Lists videos. `/video/new` is the form for a new video, `/video/new/<id>` extends that video, `/video/<id>`
 * shows one video.
 */
export default function VideoPage() {
  const [, navigate] = useLocation();
  const [, params] = useRoute('/video/:subpath?/:of?');
  const { subpath, of } = params ?? {};
  const toList = () => navigate('/video');
  const open = (id: string) => navigate(`/video/${id}`);
  const action =
    subpath === undefined ? (
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
      {subpath === undefined && <VideoList />}
      {subpath === 'new' && <NewVideo key={of} of={of} onCreated={open} />}
      {subpath !== undefined && subpath !== 'new' && (
        <VideoDetail
          key={subpath}
          id={subpath}
          onDeleted={toList}
          onContinue={(id) => navigate(`/video/new/${id}`)}
        />
      )}
    </Page>
  );
}
