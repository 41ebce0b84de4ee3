import { Page } from '../../parts/page.tsx';

export default function SpeakPage() {
  return <Page title="Speak and hear" text="A text, spoken; a recording, written down." />;
}
