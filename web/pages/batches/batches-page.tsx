import { Page } from '../../parts/page.tsx';

export default function BatchesPage() {
  return <Page title="Batches" text="Many requests in one file, done within a day." />;
}
