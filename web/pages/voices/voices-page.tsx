import { Page } from '../../parts/page.tsx';

export default function VoicesPage() {
  return <Page title="Voices" text="Voices of your organization, made from short recordings." />;
}
