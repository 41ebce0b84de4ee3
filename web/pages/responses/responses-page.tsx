import { Page } from '../../parts/page.tsx';

export default function ResponsesPage() {
  return <Page title="Responses" text="Language models, turn by turn." />;
}
