import { Page } from '../../parts/page.tsx';

export default function KeysPage() {
  return <Page title="API keys" text="Keys of your organization." />;
}
