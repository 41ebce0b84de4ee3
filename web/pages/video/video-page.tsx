import { Button } from '@mantine/core';
import { useState } from 'react';
import { Icon } from '../../parts/icon.tsx';
import { Page } from '../../parts/page.tsx';
import { NewVideo } from './new-video.tsx';
import { VideoDetail } from './video-detail.tsx';
import { VideoList } from './video-list.tsx';

type Shown =
  | { readonly kind: 'list' }
  /** With the video that is to be continued, if one is. */
  | { readonly kind: 'new'; readonly of?: string }
  | { readonly kind: 'video'; readonly id: string };

export default function VideoPage() {
  const [shown, setShown] = useState<Shown>({ kind: 'list' });
  const toList = () => setShown({ kind: 'list' });
  const open = (id: string) => setShown({ kind: 'video', id });
  const action =
    shown.kind === 'list' ? (
      <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setShown({ kind: 'new' })}>
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
      {shown.kind === 'list' && <VideoList onOpen={open} />}
      {shown.kind === 'new' && <NewVideo of={shown.of} onMade={open} />}
      {shown.kind === 'video' && (
        <VideoDetail
          key={shown.id}
          id={shown.id}
          onDeleted={toList}
          onContinue={(of) => setShown({ kind: 'new', of })}
        />
      )}
    </Page>
  );
}
