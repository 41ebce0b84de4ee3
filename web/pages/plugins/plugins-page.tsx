import { Page } from '../../parts/page.tsx';

export default function PluginsPage() {
  return <Page title="Plugins" text="What this service does, and what is switched off." />;
}
