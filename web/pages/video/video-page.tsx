import { Button } from '@mantine/core';
import { useLocation, useRoute } from 'wouter';
import { Icon } from '../../parts/icon.tsx';
import { Page } from '../../parts/page.tsx';
import { NewVideo } from './new-video.tsx';
import { VideoDetail } from './video-detail.tsx';
import { VideoList } from './video-list.tsx';

/**
 * The list, at `/video/new` what makes one, at `/video/new/ID` what continues that video, below `/video/` one by its
 * id.
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
        Continue a clip
      </Button>
    ) : (
      <Button variant="default" leftSection={<Icon name="back" size={16} />} onClick={toList}>
        All videos
      </Button>
    );
  return (
    <Page
      title="Video"
      text="A clip goes in; a new segment that begins where it ends comes out."
      actions={action}
    >
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
