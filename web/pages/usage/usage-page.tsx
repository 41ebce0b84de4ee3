import { Page } from '../../parts/page.tsx';

export default function UsagePage() {
  return <Page title="Usage" text="What your organization used, and what it may still spend." />;
}
