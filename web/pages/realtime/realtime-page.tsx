import { Page } from '../../parts/page.tsx';

export default function RealtimePage() {
  return <Page title="Realtime" text="A conversation over one connection." />;
}
