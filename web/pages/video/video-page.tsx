import { Page } from '../../parts/page.tsx';

export default function VideoPage() {
  return <Page title="Video" text="Clips, continued." />;
}
